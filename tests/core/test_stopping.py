"""Policies that end their tree by a rule of their own, each against its rule written down once more, and against brute force."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_viz import POLICIES, RankLandscape, RecordedLandscape, SyntheticLandscape
from eagle_viz.core.cost import PassCost
from eagle_viz.core.landscape import Candidates
from eagle_viz.core.policies import PoolTooSmallError, StoppedError
from eagle_viz.core.readout import draft_up_to
from tests.core.test_policies import LANDS, SMALL, closed_sets

STOPPING = [name for name, policy in POLICIES.items() if policy.stops]
SHARES = st.floats(0, 1)


def drafted(name, landscape, budget, **parameters):
    """What a policy keeps of a budget, by its own rule or all of it."""
    return draft_up_to(POLICIES[name](**parameters), landscape, budget)[0]


@given(LANDS, st.integers(0, 25))
@pytest.mark.parametrize("name", STOPPING)
def test_what_is_kept_is_a_tree_of_at_most_the_budget(name, landscape, budget):
    """Ancestors come first, everything kept was scored, and the error beside a smaller tree carries that very tree."""
    draft, error = draft_up_to(POLICIES[name](), landscape, budget)
    assert draft.budget == len(draft.order) <= budget and (error is None) == (draft.budget == budget)
    assert error is None or (isinstance(error, StoppedError) and error.draft is draft and error.available == draft.budget)
    for place, path in enumerate(draft.order):
        assert len(path) == 1 or path[:-1] in draft.order[:place]
    assert set(draft.tree.paths) <= set(draft.pool.paths)


@given(LANDS, st.integers(1, 20))
@pytest.mark.parametrize("name", [name for name in STOPPING if POLICIES[name].nested])
def test_smaller_budgets_are_the_first_nodes_in_the_passes_told(name, landscape, budget):
    """One draft tells tree and draft passes of every smaller budget."""
    policy = POLICIES[name]()
    whole, _ = draft_up_to(policy, landscape, budget)
    passes = policy.passes_at(whole)
    for smaller in range(1, whole.budget + 1):
        draft = policy(landscape, smaller)
        assert draft.order == whole.order[:smaller] and draft.passes == passes[smaller]


# -- a chain that ends where the drafter is unsure ---------------------------------------------------------------------


@given(LANDS, SHARES, st.booleans(), st.integers(0, 12))
def test_the_chain_goes_on_while_each_confidence_reaches_the_threshold(landscape, threshold, keep, budget):
    """The rule token by token; the pass that found the unsure token counts."""
    sure, path, passes = [], (), 0
    while len(sure) < budget:
        confidence, path, passes = float(landscape.expand([path])[0].confidences[0]), (*path, 0), passes + 1
        if confidence >= threshold or keep:
            sure.append(path)
        if confidence < threshold:
            break
    draft = drafted("confident_chain", landscape, budget, stop_below=threshold, keep_unsure=keep)
    assert draft.order == tuple(sure) and draft.passes == passes


def test_a_chain_by_hand():
    """0.9, 0.6, 0.3: at 0.5 llama.cpp drafts two tokens in three passes, Hugging Face three; at 0 it is the chain."""
    land = RankLandscape([[0.9], [0.6], [0.3]])
    assert [drafted("confident_chain", land, 8, stop_below=0.5, keep_unsure=keep).budget for keep in (False, True)] == [2, 3]
    assert drafted("confident_chain", land, 8, stop_below=0.5).passes == 3
    assert POLICIES["confident_chain"](stop_below=0)(land, 8).order == POLICIES["chain"]()(land, 8).order


# -- DDD and OPT-Tree --------------------------------------------------------------------------------------------------


@given(LANDS, SHARES, st.integers(1, 6), st.integers(1, 30))
def test_ddd_is_eagle2_with_the_levels_it_made(landscape, least, top_k, budget):
    """The first level whose beam sums to less than the threshold is the last; its tree is EAGLE-2's of so many levels."""
    made = next(
        (
            levels
            for levels in range(1, 7)
            if sum(
                sorted(POLICIES["eagle2"](top_k, levels)(landscape, 1).pool.values[_last_level(landscape, top_k, levels)])[-top_k:]
            )
            < least - 1e-12
        ),
        6,
    )
    draft = drafted("ddd", landscape, budget, top_k=top_k, least_mass=least)
    assert abs(draft.passes - made) == 0 or _near(landscape, top_k, least)
    assert draft.order == drafted("eagle2", landscape, budget, top_k=top_k, max_depth=draft.passes).order


def _last_level(landscape, top_k, levels):
    pool = POLICIES["eagle2"](top_k, levels)(landscape, 1).pool
    return pool.depths == levels


def _near(landscape, top_k, least):
    """Whether some level's beam sums to the threshold up to rounding, where either answer is right."""
    pool = POLICIES["eagle2"](top_k, 6)(landscape, 1).pool
    return any(abs(sum(sorted(pool.values[pool.depths == level])[-top_k:]) - least) < 1e-9 for level in range(1, 7))


@given(LANDS, st.integers(1, 30))
def test_without_their_stops_ddd_is_eagle2_and_opt_tree_is_best_first(landscape, budget):
    """Threshold 0: every level is drafted that can matter."""
    assert drafted("ddd", landscape, budget, least_mass=0).order == drafted("eagle2", landscape, budget).order
    found = drafted("opt_tree", landscape, budget, least_gain=0).tree.expected_accepted
    assert found == pytest.approx(drafted("best_first", landscape, budget, max_depth=6).tree.expected_accepted, abs=1e-12)


@given(LANDS, st.floats(0.001, 1), st.integers(1, 30))
def test_opt_tree_stops_at_the_first_level_that_adds_too_little(landscape, least, budget):
    """Levels with gains from best-first under each depth cap, written as the paper's loop."""
    worth = [0.0, *(drafted("best_first", landscape, budget, max_depth=d).tree.expected_accepted for d in range(1, 7))]
    gains = np.diff(worth)
    made = next((level for level, gain in enumerate(gains, start=1) if gain <= least), 6)
    draft = drafted("opt_tree", landscape, budget, least_gain=least)
    assert draft.passes == made or np.isclose(gains, least, atol=1e-9).any()
    assert draft.tree.expected_accepted == pytest.approx(worth[draft.passes], abs=1e-12)


# -- Sequoia's dynamic program -----------------------------------------------------------------------------------------


def table_value(table, nodes):
    return sum(np.prod([table[min(depth, len(table) - 1)][rank] for depth, rank in enumerate(path)]) for path in nodes)


@settings(max_examples=30)
@given(SMALL, st.integers(1, 5), st.integers(1, 3))
def test_sequoia_is_the_best_fixed_tree_by_brute_force(landscape, budget, levels):
    """Over all trees of that size and depth, with a row of averages for each level."""
    width = landscape.branching
    table = tuple(tuple(SyntheticLandscape(landscape.seed + d, 1.5, width).expand([()])[0].confidences.tolist()) for d in range(2))
    if budget > sum(width**level for level in range(1, levels + 1)):
        with pytest.raises(PoolTooSmallError, match="raise max_depth"):
            POLICIES["sequoia"](levels, table)(landscape, budget)
        return
    best = max(table_value(table, nodes) for nodes in closed_sets(width, levels, budget))
    tree = POLICIES["sequoia"](levels, table)(landscape, budget).tree
    assert tree.budget == budget and tree.depth <= levels
    assert table_value(table, tree.paths[1:]) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("budget", [1, 7, 25, 60])
def test_without_a_binding_depth_sequoia_is_worth_the_best_static_shape(budget):
    """Two constructions of one optimum: dynamic programming and best-first on the table."""
    average = (0.6, 0.19, 0.09, 0.05)
    land = RankLandscape(average)
    found = [policy(land, budget).tree.expected_accepted for policy in (POLICIES["sequoia"](24), POLICIES["best_static"]())]
    assert found[0] == pytest.approx(found[1], abs=1e-12)


# -- priced nodes ------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(SMALL, st.floats(0, 0.5), st.floats(0, 1), st.integers(0, 6), st.integers(1, 2))
def test_no_tree_of_scored_nodes_makes_more_tokens_a_second(landscape, node_price, draft_price, budget, levels):
    """All ancestor-closed sets of the pool, at the passes that were made."""
    draft = drafted("priced", landscape, budget, top_k=2, max_depth=levels, node_price=node_price, draft_price=draft_price)
    values = dict(zip(draft.pool.paths[1:], draft.pool.values[1:].tolist(), strict=True))

    def rate(nodes):
        return (1 + sum(values[path] for path in nodes)) / (1 + node_price * len(nodes) + draft_price * draft.passes)

    closed = (
        nodes
        for size in range(min(budget, len(values)) + 1)
        for nodes in map(set, combinations(values, size))
        if all(len(path) == 1 or path[:-1] in nodes for path in nodes)
    )
    assert rate(draft.order) == pytest.approx(max(map(rate, closed)), abs=1e-12)


@given(LANDS, st.floats(0.001, 0.3), st.integers(1, 40))
def test_kept_nodes_are_worth_their_price_and_the_next_is_not(landscape, node_price, budget):
    """At the best size the rate times a node's time lies between the smallest product kept and the largest left out."""
    draft = drafted("priced", landscape, budget, node_price=node_price)
    rate = (1 + draft.tree.expected_accepted) / (1 + node_price * draft.budget + 0.1 * draft.passes)
    left = sorted(set(draft.pool.paths[1:]) - set(draft.order), key=lambda path: -draft.pool.values[draft.pool.index[path]])
    if draft.budget:
        assert draft.tree.values[1:].min() >= rate * node_price - 1e-9
    if left and draft.budget < budget:
        assert draft.pool.values[draft.pool.index[left[0]]] <= rate * node_price + 1e-9


@given(LANDS, st.integers(1, 25))
def test_what_costs_nothing_is_kept(landscape, budget):
    """Both prices 0: the whole budget where the pool has it; a price that nothing is worth keeps nothing."""
    free, _ = draft_up_to(POLICIES["priced"](node_price=0, draft_price=0), landscape, budget)
    assert free.budget == min(budget, free.pool.budget)
    assert drafted("priced", landscape, budget, node_price=1.5).budget == 0


def test_a_level_is_drafted_only_if_its_pass_pays():
    """A sure landscape pays for deep drafts, and a draft pass as dear as ten target passes for none beyond the first."""
    sure = RankLandscape([0.95, 0.02])
    assert POLICIES["priced"](node_price=0.01, draft_price=0.05, max_depth=8)(sure, 8).passes == 8
    assert drafted("priced", sure, 8, node_price=0.01, draft_price=10).passes == 1


def test_measured_times_take_the_place_of_prices():
    """A line of milliseconds gives the tree of the two prices that describe the same line."""
    cost = PassCost("line", (1, 2), (20.0, 21.0), 3.0)
    for seed in range(20):
        land = SyntheticLandscape(seed)
        trees = [
            drafted("priced", land, 40, **prices).order for prices in ({"cost": cost}, {"node_price": 0.05, "draft_price": 0.15})
        ]
        assert trees[0] == trees[1]


@pytest.mark.parametrize(
    "name,field,value",
    [
        ("confident_chain", "stop_below", 1.2),
        ("ddd", "least_mass", -0.1),
        ("ddd", "top_k", 0),
        ("opt_tree", "least_gain", float("nan")),
        ("opt_tree", "max_depth", 0),
        ("priced", "node_price", "dear"),
        ("priced", "draft_price", -1),
        ("sequoia", "max_depth", 1000),
    ],
)
def test_a_bad_parameter_is_named(name, field, value):
    """The field, the value and what is allowed."""
    with pytest.raises(ValueError, match=f"^{field}: .*allowed is"):
        POLICIES[name](**{field: value})


def test_sequoia_without_an_average_says_so():
    """A recording of one prompt has no other prompts to average over."""
    land = RecordedLandscape({(): Candidates(np.array([1]), np.array([0.5]))})
    with pytest.raises(ValueError, match="average: sequoia needs"):
        POLICIES["sequoia"]()(land, 1)
    assert replace(POLICIES["sequoia"](), average=(0.5,))(land, 1).tree.budget == 1
