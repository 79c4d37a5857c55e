"""Policies against brute force over all trees, published golden values, and the laws of expand and rerank."""

from dataclasses import fields, replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_viz import POLICIES, PoolTooSmallError, RankLandscape, SyntheticLandscape, compare
from eagle_viz.core.landscape import Candidates, Landscape
from eagle_viz.core.policies import EAGLE1_PATHS, RANK_AVERAGES
from eagle_viz.core.readout import sweep_probability
from eagle_viz.core.tree import ROOT, rank_order

DYADIC = RankLandscape([2.0 ** -(rank + 1) for rank in range(64)])
SMALL = st.builds(
    SyntheticLandscape,
    seed=st.integers(0, 2**32 - 1),
    sharpness=st.floats(0, 4),
    branching=st.integers(2, 3),
    coverage=st.floats(0.5, 1),
)
LANDS = st.builds(
    SyntheticLandscape,
    seed=st.integers(0, 2**32 - 1),
    sharpness=st.floats(0.1, 4),
    branching=st.integers(2, 10),
    coverage=st.floats(0.5, 1),
)
DYNAMIC = [POLICIES["best_first"](), POLICIES["eagle2"](top_k=10, max_depth=12)]
EVERY = [*(policy() for policy in POLICIES.values() if not policy.stops), POLICIES["eagle2"](top_k=10, max_depth=12)]


@cache
def closed_sets(width, depth, size):
    """Every ancestor-closed set of ``size`` nodes in the full tree of that width and depth, by brute force over all subsets."""
    level, nodes = [ROOT], []
    for _ in range(depth):
        level = [(*path, rank) for path in level for rank in range(width)]
        nodes += level
    return [s for s in map(frozenset, combinations(nodes, size)) if all(len(p) == 1 or p[:-1] in s for p in s)]


def value(landscape, path):
    product = 1.0
    for depth, rank in enumerate(path):
        product *= float(landscape.expand([path[:depth]])[0].confidences[rank])
    return product


def leaf_sum(landscape, nodes):
    parents = {path[:-1] for path in nodes}
    return sum(value(landscape, path) for path in nodes if path not in parents)


@settings(max_examples=15, deadline=None)
@given(SMALL, st.integers(1, 4))
def test_best_first_equals_brute_force_over_all_trees(landscape, budget):
    best = max(sum(value(landscape, path) for path in nodes) for nodes in closed_sets(landscape.branching, 3, budget))
    assert POLICIES["best_first"](max_depth=3)(landscape, budget).tree.expected_accepted == pytest.approx(best, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(SMALL, st.integers(1, 5))
def test_max_sweep_equals_brute_force_over_all_trees_in_the_fewest_levels(landscape, budget):
    levels = next(d for d in range(1, 9) if sum(landscape.branching**i for i in range(1, d + 1)) >= budget)
    best = max(leaf_sum(landscape, nodes) for nodes in closed_sets(landscape.branching, levels, budget))
    tree = POLICIES["max_sweep"]()(landscape, budget).tree
    assert tree.depth <= levels and tree.budget == budget
    assert sweep_probability(tree) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize(
    ("budget", "expected", "histogram"), [(15, 2.0, [4, 6, 4, 1]), (31, 2.5, [5, 10, 10, 5, 1]), (63, 3.0, [6, 15, 20, 15, 6, 1])]
)
@pytest.mark.parametrize(
    "policy", [POLICIES["best_first"](), POLICIES["eagle2"](top_k=63, max_depth=12), POLICIES["best_static"]()]
)
def test_dyadic_landscape_golden_values(policy, budget, expected, histogram):
    tree = policy(DYADIC, budget).tree
    assert tree.expected_accepted == expected
    assert np.bincount(tree.depths)[1:].tolist() == histogram
    assert len(tree.leaves) == (budget + 1) // 2


@settings(max_examples=60, deadline=None)
@given(LANDS, st.integers(1, 12), st.integers(1, 6), st.data())
def test_eagle2_with_top_k_of_at_least_the_budget_is_exact(landscape, top_k, max_depth, data):
    budget = data.draw(st.integers(1, min(top_k, landscape.branching)))
    beam = POLICIES["eagle2"](top_k=top_k, max_depth=max_depth)(landscape, budget)
    exact = POLICIES["best_first"](max_depth=max_depth)(landscape, budget)
    assert set(beam.order) == set(exact.order)


def naive_eagle2(landscape, top_k, max_depth, budget):
    """Section 3 of the reference, written down once more over sorted lists of (value, path)."""
    pool = layer = [(c, (r,)) for r, c in enumerate(landscape.expand([()])[0].confidences[:top_k])]
    for _ in range(max_depth - 1):
        frontier = sorted(layer, key=lambda vp: rank_order(*vp))[:top_k]
        rows = landscape.expand([path for _, path in frontier])
        layer = [
            (v * c, (*p, r)) for (v, p), row in zip(frontier, rows, strict=True) for r, c in enumerate(row.confidences[:top_k])
        ]
        pool = pool + layer
    return {path for _, path in sorted(pool, key=lambda vp: rank_order(*vp))[:budget]}


@settings(max_examples=60, deadline=None)
@given(LANDS, st.integers(2, 10), st.integers(3, 8), st.integers(1, 20))
def test_eagle2_equals_a_naive_reading_of_the_paper(landscape, top_k, max_depth, budget):
    width = min(top_k, landscape.branching)
    budget = min(budget, width + width * width)
    draft = POLICIES["eagle2"](top_k=top_k, max_depth=max_depth)(landscape, budget)
    assert set(draft.order) == naive_eagle2(landscape, top_k, max_depth, budget)


@given(LANDS, st.integers(1, 10), st.integers(1, 8), st.integers(1, 40))
def test_stopping_early_changes_the_passes_and_never_the_tree(landscape, top_k, max_depth, budget):
    published = POLICIES["eagle2"](top_k=top_k, max_depth=max_depth)
    try:
        whole = published(landscape, budget)
    except PoolTooSmallError:
        return
    early = replace(published, early_stop=True)(landscape, budget)
    assert early.order == whole.order and early.passes <= whole.passes
    assert early.frontiers == whole.frontiers[: early.passes]


def test_stopping_early_by_hand():
    # Three nodes of 0.9, 0.81, 0.1 are kept: after three levels the best to go on from is worth 0.081.
    land = RankLandscape([[0.9, 0.1], [0.9, 0.1], [0.1, 0.05]])
    early = POLICIES["eagle2"](top_k=2, early_stop=True)(land, 3)
    assert early.order == ((0,), (0, 0), (1,)) and early.passes == 3
    certain = RankLandscape([[1.0]])
    assert POLICIES["eagle2"](early_stop=True)(certain, 3).passes == 3


@pytest.mark.parametrize("sharpness", [0.8, 3.0])
@pytest.mark.parametrize(
    "policy", [*EVERY, POLICIES["best_first"](max_depth=3), POLICIES["eagle2"](top_k=4, early_stop=True)], ids=str
)
def test_passes_at_every_budget_are_those_of_drafting_with_that_budget(policy, sharpness):
    """One draft of a nested policy tells the draft passes of all its smaller ones."""
    if not policy.nested:
        pytest.skip("its larger draft says nothing about smaller ones")
    landscape = SyntheticLandscape(seed=3, sharpness=sharpness)
    alone = [policy(landscape, budget).passes for budget in range(1, 31)]
    assert policy.passes_at(policy(landscape, 30)).tolist() == [0, *alone]


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_states_its_facts_in_its_class(name):
    """Names, a reason that formats, and parameters that are fields; same options are the same object in every policy."""
    policy = POLICIES[name]
    assert policy.name == name and policy.title and policy.reason.format(left=3)
    for parameter in policy.parameters:
        assert parameter.name in {field.name for field in fields(policy)}
        shared = [entry for other in POLICIES.values() for entry in other.parameters if entry.name == parameter.name]
        assert all(entry is parameter for entry in shared)
    assert policy()(SyntheticLandscape(seed=3), 4).policy == policy()


@pytest.mark.parametrize("policy", EVERY, ids=str)
def test_what_expands_first_scores_one_pool_at_every_budget(policy):
    """Else its expand layers would not be those of a smaller budget."""
    landscape = SyntheticLandscape(seed=3)
    pools = [policy(landscape, budget).pool.paths for budget in (3, 30)]
    assert (pools[0] == pools[1]) == policy.expands_first


def test_eagle2_counts_passes_and_candidates_as_the_paper_does():
    draft = POLICIES["eagle2"]()(DYADIC, budget=59)
    assert (draft.passes, draft.tree.depth <= 6, draft.pool.budget) == (6, True, 10 + 5 * 100)
    assert [len(frontier) for frontier in draft.frontiers] == [1, 10, 10, 10, 10, 10]


@settings(max_examples=40, deadline=None)
@given(LANDS)
@pytest.mark.parametrize("policy", [policy for policy in EVERY if policy.nested])
def test_selections_are_nested_in_the_budget(policy, landscape):
    whole = policy(landscape, 14).order
    for budget in (0, 1, 5, 13):
        assert policy(landscape, budget).order == whole[:budget]


@settings(max_examples=40, deadline=None)
@given(LANDS)
@pytest.mark.parametrize("policy", DYNAMIC)
def test_dynamic_value_is_concave_in_the_budget(policy, landscape):
    draft = policy(landscape, 20)
    steps = draft.tree.values[[draft.tree.index[path] for path in draft.order]]
    assert (np.diff(steps) <= 0).all()


@settings(max_examples=25, deadline=None)
@given(LANDS, st.integers(0, 40))
@pytest.mark.parametrize("policy", EVERY)
def test_every_policy_keeps_exactly_the_budget_and_every_prefix_is_a_tree(policy, landscape, budget):
    draft = policy(landscape, min(budget, landscape.branching + landscape.branching**2))
    assert draft.tree.budget == draft.budget == len(draft.order)
    seen = {ROOT}
    for path in draft.order:
        assert path[:-1] in seen
        seen.add(path)
    assert set(draft.tree.paths) <= set(draft.pool.paths)


@settings(max_examples=25, deadline=None)
@given(LANDS, st.integers(1, 25))
@pytest.mark.parametrize("policy", EVERY)
def test_nothing_beats_best_first(policy, landscape, budget):
    budget = min(budget, landscape.branching + landscape.branching**2)
    bound = POLICIES["best_first"]()(landscape, budget).tree.expected_accepted
    assert policy(landscape, budget).tree.expected_accepted <= bound + 1e-12


class Powered(Landscape):
    """Another landscape with every confidence raised to the same power."""

    def __init__(self, landscape, power):
        self.landscape, self.power = landscape, power

    def _expand(self, paths):
        return [Candidates(row.tokens, row.confidences**self.power) for row in self.landscape.expand(paths)]


@settings(max_examples=40, deadline=None)
@given(LANDS, st.floats(0.3, 3), st.integers(1, 20))
@pytest.mark.parametrize("policy", DYNAMIC)
def test_raising_every_confidence_to_one_power_changes_no_choice(policy, landscape, power, budget):
    draft = policy(landscape, budget + 1)
    values = draft.tree.values[[draft.tree.index[path] for path in draft.order]]
    near_tie = budget < len(values) and values[budget - 1] < values[budget] * (1 + 1e-6) + 1e-9
    if not near_tie:
        assert set(policy(Powered(landscape, power), budget).order) == set(draft.order[:budget])


@pytest.mark.parametrize("policy", DYNAMIC)
@pytest.mark.parametrize("confidences", [[1.0, 0.0], [0.5, 0.5], [0.25] * 4, [0.0, 0.0, 0.0], [1.0]])
def test_ties_certainty_and_zeros_give_a_closed_tree_in_the_strict_order(policy, confidences):
    landscape = RankLandscape(confidences)
    order = policy(landscape, 6).order
    assert list(order) == sorted(order, key=lambda path: rank_order(value(landscape, path), path))
    assert all(path[:-1] in {ROOT, *order} for path in order)


def test_eagle1_grows_ancestors_first_and_continues_after_its_25_paths():
    order = POLICIES["eagle1"]()(DYADIC, 60).order
    assert set(order[:25]) == set(EAGLE1_PATHS) and len(set(order)) == 60
    assert order == POLICIES["eagle1"]()(SyntheticLandscape(seed=5, branching=10), 60).order


def test_eagle1_skips_ranks_that_the_landscape_lacks_and_fills_the_budget():
    order = POLICIES["eagle1"]()(SyntheticLandscape(seed=5, branching=2), 25).order
    assert len(order) == 25 and all(rank < 2 for path in order for rank in path)
    assert {path for path in EAGLE1_PATHS if max(path) < 2} <= set(order)


def test_the_rank_averages_are_the_rounded_mean_of_the_sharp_family():
    mean = SyntheticLandscape(sharpness=2.5, branching=10).family_average()[0]
    assert RANK_AVERAGES == pytest.approx(mean, abs=0.005)


def test_best_static_is_best_first_on_the_average():
    average = (0.5, 0.3, 0.1)
    order = POLICIES["best_static"](average=average)(SyntheticLandscape(seed=1, branching=3), 20).order
    assert order == POLICIES["best_first"]()(RankLandscape(average), 20).order


def test_static_shapes_take_one_pass_a_level_and_best_first_one_a_node():
    landscape = SyntheticLandscape(seed=5)
    assert POLICIES["eagle1"]()(landscape, 25).passes == 5
    assert POLICIES["chain"]()(landscape, 7).passes == 7
    assert POLICIES["best_first"]()(landscape, 25).passes == 25


@pytest.mark.parametrize(
    ("policy", "budget", "available"),
    [
        (POLICIES["eagle2"](top_k=1, max_depth=4), 5, 4),
        (POLICIES["best_first"](max_depth=1), 9, 4),
        (POLICIES["eagle2"](max_depth=2), 21, 20),
    ],
)
def test_a_pool_smaller_than_the_budget_is_an_error_that_says_what_to_raise(policy, budget, available):
    with pytest.raises(PoolTooSmallError, match=f"{budget} nodes asked.*only {available} candidates.*raise") as caught:
        policy(SyntheticLandscape(seed=1), budget)
    assert caught.value.available == available


class Finite(Landscape):
    """Two children and four grandchildren, and nothing below."""

    def _expand(self, paths):
        widths = [2 if len(path) < 2 else 0 for path in paths]
        return [Candidates(np.full(width, -1), np.array([0.6, 0.3])[:width]) for width in widths]


@pytest.mark.parametrize("policy", [*EVERY, POLICIES["best_static"](average=(0.5, 0.3))])
def test_a_landscape_that_ends_is_used_up_and_then_an_error(policy):
    whole = 2 if policy.name == "chain" else 6
    if not policy.needs_average or policy.average:
        assert policy(Finite(), whole).tree.budget == whole
        with pytest.raises(PoolTooSmallError, match=f"only {whole} candidates"):
            policy(Finite(), 7)


@pytest.mark.parametrize("budget", [-1, 2.5, "many", True, 10**6])
@pytest.mark.parametrize("policy", EVERY)
def test_a_bad_budget_is_named(policy, budget):
    with pytest.raises(ValueError, match="^budget: .*allowed is a whole number from 0 to 4096"):
        policy(DYADIC, budget)


@pytest.mark.parametrize(
    ("parameters", "field"), [({"top_k": 0}, "top_k"), ({"max_depth": 0}, "max_depth"), ({"expand_by": "luck"}, "expand_by")]
)
def test_bad_parameters_of_eagle2_are_named(parameters, field):
    with pytest.raises(ValueError, match=f"^{field}: "):
        POLICIES["eagle2"](**parameters)


def gains(sharpness, static, seeds=200):
    lands = [SyntheticLandscape(seed=seed, sharpness=sharpness) for seed in range(seeds)]
    return np.mean([compare(land, 25, static=static, dynamic="best_first").gain for land in lands])


def test_mission_the_gain_over_eagle1_rises_with_sharpness():
    flat, middle, sharp = (gains(sharpness, "eagle1") for sharpness in (0.8, 1.6, 2.5))
    assert flat < 0.12 and 0.25 <= sharp <= 0.37
    assert flat < middle < sharp


def test_mission_part_of_the_gain_is_shape_and_part_is_looking_at_the_context():
    assert 0 < gains(2.5, "best_static") < gains(2.5, "eagle1")


def test_mission_maximising_whole_branches_builds_wide_shallow_worse_trees():
    for seed in range(200):
        landscape = SyntheticLandscape(seed=seed)
        safest, best = POLICIES["max_sweep"]()(landscape, 25).tree, POLICIES["best_first"]()(landscape, 25).tree
        assert safest.depth <= 3 < best.depth
        assert sweep_probability(safest) > sweep_probability(best)
        assert safest.expected_accepted < best.expected_accepted
