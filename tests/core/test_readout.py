"""Readouts add up, sentences say the same numbers, and verification accepts what a target would."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_viz import POLICIES, RankLandscape, SyntheticLandscape, compare
from eagle_viz.core import readout

SEEDS = st.integers(0, 2**32 - 1)
CHAIN = RankLandscape([[0.9, 0.04, 0.03, 0.02], [0.8, 0.1, 0.05, 0.03], [0.55 / 0.72, 0.1], [0.4 / 0.55, 0.1]])


def both(seed, budget=25):
    return compare(SyntheticLandscape(seed=seed), budget, dynamic=POLICIES["eagle2"](max_depth=12))


@given(SEEDS)
def test_contributions_by_depth_and_by_step_add_up_to_the_readout(seed):
    for draft in (both(seed).static, both(seed).dynamic):
        total = draft.tree.expected_accepted
        assert readout.per_depth(draft.tree).sum() == pytest.approx(total)
        assert readout.per_step(draft).sum() == pytest.approx(total)
        assert readout.cumulative(draft)[-1] == total


@given(SEEDS)
def test_the_curve_of_a_nested_policy_is_its_value_at_every_budget(seed):
    landscape, policy = SyntheticLandscape(seed=seed), POLICIES["eagle1"]()
    curve = readout.budget_curve(policy, landscape, 12)
    assert curve == pytest.approx([policy(landscape, budget).tree.expected_accepted for budget in range(13)])


def test_the_curve_of_max_sweep_is_its_value_at_every_budget_too():
    landscape, policy = SyntheticLandscape(seed=1), POLICIES["max_sweep"]()
    curve = readout.budget_curve(policy, landscape, 12)
    assert curve.tolist() == [policy(landscape, budget).tree.expected_accepted for budget in range(13)]


def test_the_misconception_in_numbers():
    best, safest = (POLICIES[name]()(CHAIN, 4).tree for name in ("eagle2", "max_sweep"))
    assert best.expected_accepted == pytest.approx(2.57) and readout.sweep_probability(best) == pytest.approx(0.40)
    assert safest.expected_accepted == pytest.approx(0.99) and readout.sweep_probability(safest) == pytest.approx(0.99)


def test_gain_is_the_ratio_of_the_expected_numbers():
    pair = both(11)
    assert pair.gain == pair.dynamic.tree.expected_accepted / pair.static.tree.expected_accepted - 1
    assert readout.relative_gain(0, 0) == 0 and readout.relative_gain(0, 1) == float("inf")


def test_wasted_nodes_are_worth_less_than_the_least_of_the_dynamic_tree():
    """About half of EAGLE-1's nodes on sharp landscapes (200 seeds)."""
    shares = []
    for seed in range(200):
        pair = both(seed)
        least = min(pair.dynamic.tree.values)
        wasted = readout.wasted_nodes(pair.static, pair.dynamic)
        assert all(pair.static.tree.values[pair.static.tree.index[path]] < least for path in wasted)
        shares.append(len(wasted) / 25)
    assert 0.4 < np.mean(shares) < 0.65


def test_a_draft_larger_than_the_pool_stops_at_the_pool_and_says_why():
    draft, error = readout.draft_up_to(POLICIES["eagle2"](max_depth=2), SyntheticLandscape(seed=1), 60)
    assert draft.budget == 20 and "raise top_k, max_depth" in str(error)
    assert readout.draft_up_to(POLICIES["eagle2"](), SyntheticLandscape(seed=1), 60)[1] is None


def test_values_that_read_the_same_in_two_decimals_are_written_apart():
    """Beside a kept node of 0.06 a missed one of 0.06 says by how much it missed, or that it is a tie."""
    close = POLICIES["best_first"](max_depth=1)(RankLandscape([0.063, 0.058, 0.03]), 1)
    assert readout.missed_sentences(close)[-1] == "Next best is node 1 (0.058 against 0.063), but the budget is used up."
    tied = POLICIES["best_first"](max_depth=1)(RankLandscape([0.25, 0.25]), 1)
    assert readout.missed_sentences(tied)[-1] == "Next best is node 1 (0.25, a tie), but the budget is used up."


def test_each_step_says_what_was_added_and_why():
    draft = POLICIES["best_first"]()(CHAIN, 4)
    assert readout.step_sentence(draft, 1) == "Node 0 is kept: 0.90, the most probable of the 4 guesses not yet taken."
    assert (
        readout.step_sentence(draft, 4)
        == "Node 0.0.0.0 is kept: 0.90 × 0.80 × 0.76 × 0.73 = 0.40, the most probable of the 9 guesses not yet taken."
    )
    assert readout.missed_sentences(draft)[-1] == "Next best is node 0.1 (0.09), but the budget is used up."
    assert "the context is not considered" in readout.step_sentence(POLICIES["eagle1"]()(CHAIN, 3), 3)


@pytest.mark.parametrize(
    ("path", "words"),
    [((0, 2, 1), "node 0.2.1"), ((0,) * 11 + (3,), f"node {'0.' * 11}3"), ((1,) * 12 + (0,), "node 1.1.1.1.….1.1.1.0 (level 13)")],
)
def test_rank_labels_are_the_path_and_short(path, words):
    assert readout.rank_label(path) == words


def test_a_product_of_many_factors_is_cut_in_the_middle():
    assert readout.product_text([0.57, 0.78, 0.6, 0.99, 0.95]) == "0.57 × 0.78 × … × 0.99 × 0.95"
    assert readout.amount(0.004) == "<0.01" and readout.amount(0.0) == "0.00"


def test_an_unknown_policy_is_named():
    with pytest.raises(ValueError, match="policy: 'eagle9' given, allowed is one of chain"):
        compare(CHAIN, 4, static="eagle9")


@pytest.mark.parametrize("name", ["eagle1", "best_static", "eagle2", "best_first", "chain"])
def test_the_cumulative_curve_of_a_nested_policy_is_its_value_at_every_budget_to_the_last_bit(name):
    landscape, policy = SyntheticLandscape(seed=12), POLICIES[name]()
    draft, _ = readout.draft_up_to(policy, landscape, 48)
    steps = readout.cumulative(draft)
    assert steps.tolist() == [policy(landscape, kept).tree.expected_accepted for kept in range(draft.budget + 1)]


@pytest.mark.parametrize("name", ["eagle2", "best_first"])
def test_what_misses_a_budget_is_what_the_next_budget_adds(name):
    landscape, policy = SyntheticLandscape(seed=5), POLICIES[name]()
    draft = policy(landscape, 30)
    for kept, sentence in enumerate(readout.missed_sentences(draft)):
        assert readout.rank_label(policy(landscape, kept + 1).order[-1]) in sentence


def test_best_first_chooses_only_among_children_of_what_it_kept():
    draft = POLICIES["best_first"]()(SyntheticLandscape(seed=5, branching=4), 20)
    assert [readout.on_offer(draft, step) for step in (1, 2, 3)] == [4, 7, 10]
    assert readout.on_offer(POLICIES["eagle2"](max_depth=2)(SyntheticLandscape(seed=5, branching=4), 20), 3) == 18


@given(SEEDS, st.integers(1, 60), st.integers(1, 4))
def test_trees_of_unequal_size_are_never_compared_without_both_sizes(seed, budget, top_k):
    """A policy that scores fewer nodes than the budget gets a sentence with both sizes, and only then."""
    land, eagle2 = SyntheticLandscape(seed=seed), POLICIES["eagle2"](top_k=top_k, max_depth=3)
    pair = [readout.draft_up_to(policy, land, budget)[0] for policy in (POLICIES["best_static"](), eagle2)]
    said = " ".join(readout.comparison_remarks(*pair))
    sizes = f"has {pair[0].budget} nodes, EAGLE-2 {pair[1].budget};"
    assert (sizes in said) == (len(pair[0].tree) != len(pair[1].tree)) == ("unequal" in said)


@pytest.mark.parametrize(
    ("land", "budget", "ours"),
    [
        (SyntheticLandscape(), 25, 0),
        (SyntheticLandscape(), 26, 1),
        (SyntheticLandscape(branching=3), 25, 2),  # without rank 3 the paths 3 and 3.0 are missing
        (RankLandscape([[0.9, 0.1], [0.8]]), 25, 17),  # it has 8 of the 25: 0 to level 5 and 1 to level 3, rank 0 below
    ],
)
def test_nodes_that_are_not_eagle1s_are_counted(land, budget, ours):
    """The published tree is EAGLE-1's; every other node is our continuation, and is called so."""
    policy = POLICIES["eagle1"]()
    said = policy.remark(policy(land, budget))
    assert (f"of the {budget} drawn here {ours} come" in said) if ours else said == ""
