"""The processed distribution, and the sampling rule enumerated exactly on a vocabulary of three."""

from itertools import product

import numpy as np
import pytest
import torch

from eagle_viz import DraftTree, Node
from eagle_viz.core.verification import verify_sampled
from eagle_viz.engine.sampling import Settings, nucleus, processed


def test_temperature_divides_the_logits_before_the_softmax():
    logits = torch.tensor([2.0, 0.0, -1.0])
    np.testing.assert_allclose(processed(logits, 0.5), torch.softmax(logits.double() / 0.5, 0).numpy(), rtol=1e-12)
    assert processed(torch.tensor([1.0, 3.0, 3.0]), 0).tolist() == [0, 1, 0]


def test_top_p_keeps_the_smallest_set_that_holds_it():
    probabilities = np.array([0.1, 0.4, 0.2, 0.3])
    assert nucleus(probabilities, 0.4).tolist() == [0, 1, 0, 0]
    np.testing.assert_allclose(nucleus(probabilities, 0.41), [0, 0.4 / 0.7, 0, 0.3 / 0.7])
    np.testing.assert_allclose(nucleus(probabilities, 1.0), probabilities)
    assert processed(torch.tensor([0.0, 0.0]), 1.0, 1e-9).tolist() == [1, 0]


@pytest.mark.parametrize("temperature, top_p", [(-1, 1), (101, 1), (float("nan"), 1), (1, 0), (1, 1.5)])
def test_values_outside_are_refused_by_name(temperature, top_p):
    with pytest.raises(ValueError, match="temperature:|top_p:"):
        Settings(temperature=temperature, top_p=top_p)


HALVES = {(): [2, 1, 1], (0,): [1, 2, 1], (2,): [1, 1, 2]}
"""Weights of the three tokens after some words, all dividing into quarters and halves, so that a grid of draws is exact."""


def target(words):
    weights = HALVES.get(words[-1:], [1, 2, 1])
    return processed(torch.tensor(weights, dtype=torch.float64).log(), temperature=1.0)


@pytest.mark.parametrize("paths", [[(0,)], [(0,), (1,)], [(0,), (1,), (0, 0)], [(0,), (0, 0), (0, 1)]])
def test_the_output_is_distributed_exactly_as_the_target_samples(paths):
    """Every combination of draws on a grid of quarters, all equally likely: two words said, against the plain product."""
    tokens = {(0,): 0, (1,): 2, (0, 0): 1, (0, 1): 2}
    tree = DraftTree.from_nodes([Node(path, tokens[path], 0.25) for path in paths], root_token=0)
    said, draws, grid = {}, len(paths) + 1, (np.arange(4) + 0.5) / 4
    for script in product(grid, repeat=draws):
        stream = iter(script)
        words = lambda node: tuple(int(tree.tokens[step]) for step in tree.ancestry(node)[1:])  # noqa: E731
        verdict = verify_sampled(tree, lambda node: target(words(node)), lambda: next(stream))  # noqa: B023
        spoken = (*(int(tree.tokens[node]) for node in verdict.accepted), verdict.bonus)
        said[spoken] = said.get(spoken, 0) + 1 / 4**draws
    for spoken, chance in said.items():
        plain = np.prod([target(spoken[:place])[word] for place, word in enumerate(spoken)])
        assert chance == pytest.approx(plain, abs=1e-12)
    assert sum(said.values()) == pytest.approx(1)
