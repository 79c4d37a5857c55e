"""Drafting in columns gives, bit for bit, what the same drafting gives path by path."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_viz import POLICIES, DraftTree, PoolTooSmallError
from eagle_viz.core.landscape import AT_ROOT, Candidates, Landscape
from eagle_viz.core.policies.base import Scout
from eagle_viz.core.policies.layers import Layers, greatest
from eagle_viz.core.tree import ROOT, OrphanError


class Ragged(Landscape):
    """Nodes of 0 to 8 candidates with ties and zeros, the same for the same seed and path."""

    def __init__(self, seed):
        self.seed = seed

    def _expand(self, paths):
        return [self._children(random.Random(f"{self.seed}{path}"), 4 if path == ROOT else None) for path in paths]

    def _children(self, draw, width):
        width = draw.choice([0, 1, 2, 3, 5, 8]) if width is None else width
        row = sorted((draw.choice([0, 0.25, 0.125, 0.0625, 0.1]) for _ in range(width)), reverse=True)
        return Candidates(np.array([draw.randrange(99) for _ in range(width)], dtype=np.int64), np.array(row))


SEEDS = st.integers(0, 10**6)


def by_paths(policy, landscape):
    """EAGLE-2's passes over sorted paths: the scout, the beams, and the whole pool in the order of keeping."""
    scout, frontier, beams = Scout(landscape, policy.top_k), [ROOT], []
    for _ in range(policy.max_depth):
        if frontier:
            layer = scout.expand(frontier)
            alone = sorted(layer, key=lambda path: (-scout.nodes[path].confidence, path))
            frontier = (scout.by_value(layer) if policy.expand_by == "value" else alone)[: policy.top_k]
            beams.append(frontier)
    order = scout.by_value(scout.nodes) if policy.rerank else sum(beams, [])
    return scout, order


def up_to(policy, landscape, budget):
    try:
        return policy(landscape, budget)
    except PoolTooSmallError as error:
        return policy(landscape, error.available)


@settings(max_examples=300, deadline=None)
@given(SEEDS, st.integers(1, 9), st.integers(1, 7), st.integers(0, 60), st.sampled_from(["value", "confidence"]), st.booleans())
def test_columns_give_what_paths_give(seed, top_k, max_depth, budget, expand_by, rerank):
    """Order, frontiers, pool, tree and its numbers are equal to the last bit."""
    policy, landscape = POLICIES["eagle2"](top_k, max_depth, expand_by, rerank), Ragged(seed)
    draft = up_to(policy, landscape, budget)
    scout, order = by_paths(policy, landscape)
    assert draft.order == tuple(order[:budget])
    assert (draft.frontiers, draft.passes) == (scout.frontiers(), scout.passes)
    kept = DraftTree.from_nodes([scout.nodes[path] for path in draft.order], landscape.root_token)
    for made, expected in ((draft.tree, kept), (draft.pool, scout.pool())):
        assert made.paths == expected.paths
        for column in ("tokens", "parents", "ranks", "confidences", "values", "depths"):
            assert getattr(made, column).tolist() == getattr(expected, column).tolist()
    assert draft.pool.values.tolist() == [scout.values[path] for path in draft.pool.paths]


@given(SEEDS, st.lists(st.integers(0, 3), min_size=1, unique=True), st.sampled_from([None, 1, 3]))
def test_a_block_holds_the_numbers_of_expand(seed, ranks, top_k):
    """Columns of several nodes, cut into nodes again, are their candidates."""
    frontier = AT_ROOT.below(np.zeros(len(ranks), dtype=np.int64), np.array(ranks))
    assert frontier.paths == [(rank,) for rank in ranks] and frontier.level == 1
    block, rows = Ragged(seed).expand_block(frontier, top_k), Ragged(seed).expand(frontier.paths)
    ends = np.cumsum(block.counts)[:-1]
    assert [row.tolist() for row in np.split(block.confidences, ends)] == [row.confidences[:top_k].tolist() for row in rows]
    assert [row.tolist() for row in np.split(block.tokens, ends)] == [row.tokens[:top_k].tolist() for row in rows]


def test_paths_of_a_frontier_lead_through_the_ones_above():
    """By hand: children 2 and 0 of the root, then child 1 of the second and child 5 of the first."""
    first = AT_ROOT.below(np.array([0, 0]), np.array([2, 0]))
    assert first.below(np.array([1, 0]), np.array([1, 5])).paths == [(0, 1), (2, 5)]


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), max_size=30), st.integers(0, 40))
def test_the_greatest_entries_come_in_order_and_the_first_of_equals_first(worth, count):
    """Python's sort by (-worth, index) is the oracle."""
    expected = sorted(range(len(worth)), key=lambda index: (-worth[index], index))[:count]
    assert greatest(np.array(worth), count).tolist() == expected


def test_a_row_without_its_parent_is_no_tree():
    """As everywhere, an orphan is an error."""
    layers = Layers(Ragged(3))
    layers.expand(np.array([0]))
    layers.expand(np.array([2]))
    with pytest.raises(OrphanError):
        layers.tree(np.array([layers.first]))
