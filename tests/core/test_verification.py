"""The verify walk against plain decoding (greedy) and exact enumeration of a tiny vocabulary (sampled)."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_viz import POLICIES, DraftTree, Node, SyntheticLandscape
from eagle_viz.core.verification import rolls, sample, verify_greedy, verify_sampled

VOCABULARY = 4


@st.composite
def token_trees(draw):
    """Random trees over a vocabulary of 4, siblings with different tokens."""
    paths, tokens = [()], {}
    for _ in range(draw(st.integers(0, 7))):
        parent = draw(st.sampled_from(paths))
        siblings = [path for path in paths[1:] if path[:-1] == parent]
        free = sorted(set(range(VOCABULARY)) - {tokens[path] for path in siblings})
        if free:
            path = (*parent, len(siblings))
            tokens[path] = draw(st.sampled_from(free))
            paths.append(path)
    return DraftTree.from_nodes([Node(path, tokens[path], 0.2) for path in paths[1:]], root_token=0)


def words(tree, node):
    return tuple(tree.tokens[step] for step in tree.ancestry(node)[1:])


def next_word(prefix):
    """A target's greedy choice: any fixed function of the words so far."""
    return hash((len(prefix), sum((i + 1) * int(w) for i, w in enumerate(prefix)))) % VOCABULARY


@given(token_trees())
def test_greedy_accepts_the_longest_path_of_plain_greedy_decoding(tree):
    verdict = verify_greedy(tree, [next_word(words(tree, node)) for node in range(len(tree))])
    plain = []
    for _ in range(10):
        plain.append(next_word(tuple(plain)))
    said = [int(tree.tokens[node]) for node in verdict.accepted] + [verdict.bonus]
    assert said == plain[: len(said)]
    depth = max(len(words(tree, n)) for n in range(len(tree)) if list(words(tree, n)) == plain[: len(words(tree, n))])
    assert verdict.accept_length == depth


def distribution(prefix):
    """The target's distribution over 4 words: exact fractions, any fixed function of the words so far."""
    weights = [1 + (7 * len(prefix) + 3 * sum(map(int, prefix)) + word * word) % 5 for word in range(VOCABULARY)]
    return [Fraction(weight, sum(weights)) for weight in weights]


class Branching:
    """A source of 'uniform numbers' that walks through every outcome of a verification and its exact probability."""

    def __init__(self, script):
        self.script, self.used = script, 0

    def __call__(self):
        self.used += 1
        return self.script[self.used - 1]


def outcomes(tree):
    """{(accepted words, bonus): probability} of the stated rule, by enumeration with exact fractions."""
    found = {}

    def walk(node, said, chance):
        residual = dict(enumerate(distribution(said)))
        for child in tree.children(node):
            word = int(tree.tokens[child])
            total = sum(residual.values())
            walk(child, (*said, word), chance * residual[word] / total)
            chance *= 1 - residual[word] / total
            residual[word] = Fraction(0)
        for word, weight in residual.items():
            if weight:
                key = (said, word)
                found[key] = found.get(key, 0) + chance * weight / sum(residual.values())

    walk(0, (), Fraction(1))
    return found


@settings(max_examples=40)
@given(token_trees())
def test_the_sampling_rule_gives_exactly_the_targets_distribution(tree):
    """Summed over all verdicts, the first words said are distributed as plain sampling says them."""
    found = outcomes(tree)
    assert sum(found.values()) == 1
    for (said, bonus), chance in found.items():
        plain = Fraction(1)
        for place, word in enumerate((*said, bonus)):
            plain *= distribution(said[:place])[word]
        assert chance == plain


def test_the_code_follows_the_enumerated_rule():
    """20,000 seeded verifications of one tree against the exact probabilities of its verdicts."""
    tree = DraftTree.from_nodes([Node((0,), 2, 0.5), Node((1,), 0, 0.3), Node((0, 0), 1, 0.4), Node((0, 1), 3, 0.2)], root_token=0)
    exact, draw, count = outcomes(tree), random.Random(5).random, 20_000
    seen = dict.fromkeys(exact, 0)
    for _ in range(count):
        verdict = verify_sampled(tree, lambda node: np.array(distribution(words(tree, node)), dtype=float), draw)
        seen[(tuple(int(tree.tokens[node]) for node in verdict.accepted), verdict.bonus)] += 1
    for key, chance in exact.items():
        assert seen[key] / count == pytest.approx(float(chance), abs=4 * (float(chance) / count) ** 0.5 + 1e-9)


def test_a_bonus_is_never_a_word_of_probability_zero():
    assert sample(np.array([0.0, 1.0, 0.0]), 0.0) == 1
    assert sample(np.array([0.5, 0.5, 0.0]), 1 - 1e-16) == 1


def test_rolled_verdicts_average_to_the_expected_number():
    tree = POLICIES["eagle2"](max_depth=12)(SyntheticLandscape(seed=11), 25).tree
    draw, count = random.Random(3).random, 20_000
    lengths = [len(accepted) for accepted in rolls(tree, draw, count)]
    assert np.mean(lengths) == pytest.approx(tree.expected_accepted, abs=4 * np.std(lengths) / count**0.5)
