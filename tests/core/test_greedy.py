"""Confidences read for greedy decoding: the formula by hand, its laws, and the landscape that carries it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_viz.core.greedy import GreedyCalibration, GreedyLandscape
from eagle_viz.core.landscape import RankLandscape
from eagle_viz.core.policies import BestFirst, Eagle2
from eagle_viz.core.readout import draft_up_to

DOUBT = GreedyCalibration(power=(1.5, 2.0), rest_power=0.5, rest_weight=-1.0)


@st.composite
def siblings(draw):
    """Up to 14 falling confidences that sum to at most 1."""
    weights = draw(st.lists(st.floats(0, 1), min_size=1, max_size=14))
    return np.array(sorted(weights, reverse=True)) * draw(st.floats(0, 1)) / max(1.0, sum(weights))


def test_the_formula_by_hand():
    """Of 0.6 and 0.2 with a = 2, b = 2, c = 0: 0.36, 0.04 and 0.04 for the rest, in parts of 0.44."""
    q = GreedyCalibration((2.0,), 2.0, 0.0)(np.array([0.6, 0.2]), depth=1)
    assert q == pytest.approx([0.36 / 0.44, 0.04 / 0.44], abs=1e-11)


def test_power_is_by_depth_and_the_last_goes_on():
    """At depth 1 the first power counts, from depth 2 on the second."""
    rest = math.exp(-1) * math.sqrt(0.3)
    for depth, power in ((1, 1.5), (2, 2.0), (9, 2.0)):
        expected = 0.7**power / (0.7**power + rest)
        assert DOUBT(np.array([0.7]), depth)[0] == pytest.approx(expected, abs=1e-11)


def test_powers_of_one_and_no_weight_change_nothing():
    """a = b = 1 and c = 0 give back what was put in, to the grid."""
    p = np.array([0.5, 0.25, 0.125])
    assert GreedyCalibration((1.0,), 1.0, 0.0)(p, 1) == pytest.approx(p, abs=1e-11)


@given(siblings(), st.floats(0.1, 5), st.floats(0.1, 5), st.floats(-5, 5), st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_order_stays_and_the_sum_is_at_most_one(p, power, rest_power, rest_weight, depth):
    """Confidences never rise along the ranks, stay in [0, 1], and sum to at most 1."""
    q = GreedyCalibration((power,), rest_power, rest_weight)(p, depth)
    assert len(q) == len(p) and (np.diff(q) <= 0).all() and (q >= 0).all() and math.fsum(q) <= 1


@pytest.mark.parametrize(
    ("given_", "named"),
    [
        ({"power": [], "rest_power": 1.0, "rest_weight": 0.0}, "power"),
        ({"power": [0.0], "rest_power": 1.0, "rest_weight": 0.0}, "power"),
        ({"power": [True], "rest_power": 1.0, "rest_weight": 0.0}, "power"),
        ({"power": [1.0], "rest_power": float("nan"), "rest_weight": 0.0}, "rest_power"),
        ({"power": [1.0], "rest_power": 1.0, "rest_weight": "0"}, "rest_weight"),
        ({"power": 1.0, "rest_power": 1.0, "rest_weight": 0.0}, "greedy"),
        ({"power": [1.0], "rest_power": 1.0}, "greedy"),
        ([1.0], "greedy"),
    ],
)
def test_what_cannot_be_used_is_named(given_, named):
    """A calibration from a file is used whole or refused by the name of its field."""
    with pytest.raises(ValueError, match=f"^{named}: .*allowed"):
        GreedyCalibration.from_json(given_)


def test_a_calibration_comes_back_from_json():
    """from_json after to_json is the same calibration."""
    assert GreedyCalibration.from_json(DOUBT.to_json()) == DOUBT


def test_a_landscape_read_for_greedy_decoding():
    """Tokens and ranks stay, confidences are the calibration's by depth, and the tree's expectation is the sum of its products."""
    base = RankLandscape([[0.6, 0.3], [0.5, 0.4]])
    read = GreedyLandscape(base, DOUBT)
    first, second = DOUBT(np.array([0.6, 0.3]), 1), DOUBT(np.array([0.5, 0.4]), 2)
    tree = draft_up_to(BestFirst(max_depth=2), read, 6)[0].tree
    assert tree.expected_accepted == pytest.approx(first.sum() * (1 + second.sum()))


def test_one_level_keeps_the_same_nodes():
    """Inside one node the calibration keeps the order, so a tree of one level is the same in both readings."""
    base = RankLandscape([0.4, 0.3, 0.1, 0.05])
    trees = [draft_up_to(Eagle2(max_depth=1, top_k=4), one, 3)[0].tree.paths for one in (base, GreedyLandscape(base, DOUBT))]
    assert trees[0] == trees[1]
