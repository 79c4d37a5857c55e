"""Replayed passes against hand-made cycles."""

from dataclasses import replace

import numpy as np
import pytest

from eagle_viz import POLICIES, RankLandscape, RecordedLandscape, SyntheticLandscape
from eagle_viz.core.landscape import Candidates
from eagle_viz.core.recording import RecordedCycle
from eagle_viz.core.replay import (
    Pass,
    greedy_gap,
    kept_at,
    lead_sentence,
    replay,
    spread_sentence,
    tau,
    unequal_sentence,
    written_curve,
)

HALVES = Candidates(np.array([5, 6]), np.array([0.5, 0.25]))
LAND = RecordedLandscape({(): HALVES, (0,): HALVES, (1,): HALVES, (0, 0): HALVES})


def tree(policy, budget):
    return POLICIES[policy]()(LAND, budget).tree


def test_a_pass_counts_levels_width_and_the_tokens_the_target_takes():
    cycle = RecordedCycle(0, LAND, continuation=(5, 6, 9))
    best = POLICIES["best_first"](max_depth=2)(LAND, 4).tree
    assert best.paths[1:] == ((0,), (1,), (0, 0), (0, 1))
    assert replay(cycle, best) == Pass(budget=4, depth=2, width=2, expected=0.5 + 0.25 + 0.25 + 0.125, accepted=2, written=3)
    assert replay(cycle, tree("chain", 2)) == Pass(budget=2, depth=2, width=1, expected=0.75, accepted=1, written=2)


@pytest.mark.parametrize("policy", ["chain", "eagle1", "eagle2", "best_first"])
def test_the_first_nodes_of_a_nested_policy_are_its_smaller_tree(policy):
    land = RankLandscape([0.6, 0.2, 0.1])
    full = POLICIES[policy]()(land, 30)
    for budget in (0, 1, 7, 29):
        assert kept_at(full, budget).paths == POLICIES[policy]()(land, budget).tree.paths


def test_the_curve_is_the_replay_at_every_budget():
    cycle = RecordedCycle(0, LAND, continuation=(5, 6, 9))
    draft = POLICIES["best_first"](max_depth=2)(LAND, 6)
    curve = written_curve(cycle, draft)
    assert curve.tolist() == [replay(cycle, kept_at(draft, budget)).written for budget in range(7)]
    assert curve[0] == 1 and curve[-1] == 3
    assert written_curve(replace(cycle, room=2), draft).tolist() == np.minimum(curve, 2).tolist()


def test_tau_counts_the_bonus():
    assert tau([Pass(4, 2, 2, 1.5, 3, 4), Pass(4, 2, 2, 0.5, 0, 1)]) == (2.0, 2.5)
    with pytest.raises(ValueError, match="passes: none given"):
        tau([])


@pytest.mark.parametrize("sharpness", [0.5, 2.5, 4.0])
def test_passes_at_every_budget_are_those_of_stopping_early(sharpness):
    land = SyntheticLandscape(3, sharpness)
    full = POLICIES["eagle2"](max_depth=9)(land, 40)
    early = POLICIES["eagle2"](max_depth=9, early_stop=True)
    assert early.passes_at(full).tolist() == [0, *(early(land, budget).passes for budget in range(1, 41))]


@pytest.mark.parametrize(
    ("taus", "end"),
    [
        ([(2.1, 2.3), (2.2, 2.4)], "so more was accepted than expected."),
        ([(2.1, 1.9), (2.2, 2.0)], "so less was accepted than expected."),
        ([(2.1, 2.3), (2.2, 2.0)], "so measured and expected differ."),
        ([(2.101, 2.099)], ""),
    ],
)
def test_why_measured_is_not_expected_follows_the_numbers(taus, end):
    """More, less, or neither, as both sides' numbers are shown; nothing where they read the same."""
    said = greedy_gap(taus)
    assert said.endswith(end) and bool(said) == bool(end)


def test_unequal_trees_are_counted():
    """One of two passes has fewer nodes on one side."""
    one, other = Pass(25, 5, 8, 1.0, 1, 2), Pass(24, 5, 8, 1.0, 1, 2)
    assert unequal_sentence([one, one], [one, other]) == "In 1 of 2 passes the two trees are of unequal size."
    assert unequal_sentence([one, one], [one, one]) == ""


def wrote(*counts):
    """Passes of four nodes in two levels of two that wrote so many tokens."""
    return [Pass(4, 2, 2, 1.0, count - 1, count) for count in counts]


def test_a_lead_has_its_paired_interval():
    """Leads of 1, 1, 0, 2: mean 1, standard error sqrt(2 / 3 / 4), so 1.96 of them are 0.80."""
    said = lead_sentence(("A", "B"), wrote(1, 2, 2, 1), wrote(2, 3, 2, 3))
    assert said == "B writes +1.00 tokens a pass against A (95 % interval +0.20 to +1.80)."


def test_a_lead_that_may_be_chance_says_so_and_one_pass_says_nothing():
    """Leads of 2 and -1 cannot tell; a single pass has no interval."""
    assert lead_sentence(("A", "B"), wrote(1, 2), wrote(3, 1)).endswith("cannot tell which of the two is ahead.")
    assert lead_sentence(("A", "B"), wrote(1), wrote(2)) == ""


def test_what_does_not_differ_is_one_number():
    """Like passes have no range; without a pass there is nothing to say."""
    assert "2 levels deep and 2 nodes wide, expects 1.0 accepted tokens and writes 3." in spread_sentence("A", wrote(3, 3))
    with pytest.raises(ValueError, match="passes: none given"):
        spread_sentence("A", [])
