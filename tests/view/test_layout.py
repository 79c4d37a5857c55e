"""Laws of the tidy layout, on random trees."""

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_viz.core.tree import ROOT, canonical_order
from eagle_viz.view.layout import tidy_layout

NEAR = 1e-5


@st.composite
def trees(draw):
    """An ancestor-closed set of paths, grown by hanging each node under an earlier one."""
    paths, width = [ROOT], defaultdict(int)
    for _ in range(draw(st.integers(0, 60))):
        parent = paths[draw(st.integers(0, len(paths) - 1))]
        paths.append((*parent, width[parent]))
        width[parent] += 1
    return paths[1:]


@st.composite
def sized_trees(draw):
    paths = draw(trees())
    return paths, {path: draw(st.sampled_from((0.25, 1.0, 1.5))) for path in [ROOT, *paths]}


def children_of(paths):
    children = defaultdict(list)
    for path in sorted(paths, key=canonical_order):
        children[path[:-1]].append(path)
    return children


def shape(path, children):
    return tuple(shape(child, children) for child in children[path])


def drawing(path, children, y):
    """Positions of a subtree relative to its top, in the order of a walk."""
    seen, stack = [], [path]
    while stack:
        node = stack.pop()
        seen.append(y[node] - y[path])
        stack.extend(reversed(children[node]))
    return seen


@settings(max_examples=150, deadline=None)
@given(sized_trees())
def test_nodes_of_a_level_never_overlap_and_keep_their_order(tree):
    paths, sizes = tree
    y = tidy_layout(paths, sizes)
    levels = defaultdict(list)
    for path in sorted([ROOT, *paths], key=canonical_order):
        levels[len(path)].append(path)
    for level in levels.values():
        for left, right in zip(level, level[1:], strict=False):
            assert y[right] - y[left] >= (sizes[left] + sizes[right]) / 2 - NEAR


@settings(max_examples=150, deadline=None)
@given(sized_trees())
def test_a_parent_sits_midway_between_its_first_and_last_child(tree):
    paths, sizes = tree
    y = tidy_layout(paths, sizes)
    for parent, below in children_of(paths).items():
        assert y[parent] == pytest.approx((y[below[0]] + y[below[-1]]) / 2, abs=NEAR)


@settings(max_examples=150, deadline=None)
@given(trees())
def test_equal_subtrees_look_equal_wherever_they_hang(paths):
    y, children = tidy_layout(paths), children_of(paths)
    first_of_shape = {}
    for path in paths:
        mine = drawing(path, children, y)
        other = first_of_shape.setdefault(shape(path, children), mine)
        assert mine == pytest.approx(other, abs=NEAR)


@settings(max_examples=100, deadline=None)
@given(trees())
def test_a_mirrored_tree_is_drawn_mirrored(paths):
    children = children_of(paths)

    def mirrored(path):
        twin = ROOT
        for depth, rank in enumerate(path):
            twin = (*twin, len(children[path[:depth]]) - 1 - rank)
        return twin

    y = tidy_layout(paths)
    twin = tidy_layout([mirrored(path) for path in paths])
    breadth = max(y.values())
    assert {path: breadth - twin[mirrored(path)] for path in y} == pytest.approx(y, abs=NEAR)


def test_the_smallest_drawings_are_the_ones_drawn_by_hand():
    assert tidy_layout([]) == {ROOT: 0}
    assert set(tidy_layout([(0,) * depth for depth in range(1, 30)]).values()) == {0}
    assert tidy_layout([(0,), (1,), (2,), (1, 0), (1, 1)]) == {
        ROOT: 1.0, (0,): 0.0, (1,): 1.0, (2,): 2.0, (1, 0): 0.5, (1, 1): 1.5
    }  # fmt: skip


def test_an_orphan_is_an_error():
    with pytest.raises(KeyError):
        tidy_layout([(0, 0)])
