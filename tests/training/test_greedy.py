"""Fitting the greedy reading: what made the choices is found again, and observations are what passes met."""

import numpy as np
import pytest

from eagle_viz import POLICIES
from eagle_viz.core.greedy import GreedyCalibration
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.generation import generate
from eagle_viz.engine.head import Head
from eagle_viz.engine.sampling import Settings
from eagle_viz.training.greedy import NOTHING, FirstChoices, fit_greedy, observed, split, surprise


def drawn(calibration, count, seed):
    """First choices drawn from a calibration, of confidences like a head's."""
    random = np.random.default_rng(seed)
    parts = random.dirichlet(np.full(30, 0.15), count)
    confidences = np.sort(parts, axis=1)[:, ::-1][:, :10]
    depth = random.integers(1, 7, count)
    chosen = []
    for row, level in zip(confidences, depth, strict=True):
        chances = calibration(row, level)
        chosen.append(random.choice(11, p=[*chances, 1 - chances.sum()]))
    return FirstChoices(confidences, depth, np.array(chosen))


def test_the_fit_finds_what_made_the_choices():
    """20,000 choices drawn from a known calibration give its numbers back, to the noise of the draw."""
    truth = GreedyCalibration((1.4,), 0.6, -1.2)
    found = fit_greedy(drawn(truth, 20_000, seed=1))
    assert found.power[0] == pytest.approx(1.4, rel=0.06)
    assert (found.rest_power, found.rest_weight) == (pytest.approx(0.6, rel=0.2), pytest.approx(-1.2, abs=0.35))


def test_the_fit_is_less_surprised_than_no_calibration():
    """On choices it has not seen, too; a power for each depth is found where depths differ."""
    truth = GreedyCalibration((2.0, 1.6, 1.3, 1.0, 0.9, 0.8), 0.7, -0.5)
    seen = drawn(truth, 12_000, seed=2)
    half = np.arange(len(seen.depth)) % 2 == 0
    for_all, by_depth = (fit_greedy(split(seen, half), by_depth=flag) for flag in (False, True))
    unseen = split(seen, ~half)
    assert surprise(unseen, by_depth) < surprise(unseen, for_all) < surprise(unseen, NOTHING)


def test_nothing_observed_is_refused():
    """A fit without an observation is one sentence."""
    with pytest.raises(ValueError, match="observations: none given"):
        fit_greedy(FirstChoices(np.zeros((0, 10)), np.zeros(0), np.zeros(0, dtype=int)))


def test_an_observation_is_a_reached_and_expanded_node(target):
    """At the root and after each accepted node: its candidates, and where the target's own next token is among them."""
    contest = {"eagle2": (POLICIES["eagle2"](top_k=10, max_depth=3), 20)}
    run = generate(target, HeadDrafter(Head.random(target, draft_vocabulary=60)), [2, 17, 40], contest, Settings(20))
    count = 0
    for cycle in run:
        tree, verdict = cycle.drafts["eagle2"].tree, cycle.verdicts["eagle2"]
        words = [*(int(tree.tokens[node]) for node in verdict.accepted), verdict.bonus]
        for (confidences, depth, chosen), node, word in zip(observed(cycle), (0, *verdict.accepted), words, strict=False):
            row = cycle.landscape.candidates[tree.paths[node]]
            assert depth == tree.depths[node] + 1 and confidences.tolist() == row.confidences.tolist()
            assert (row.tokens[chosen] == word) if chosen < 10 else word not in row.tokens.tolist()
            count += 1
    assert count >= run.passes
