"""DraftTree: numbering, buffers and the laws of path products, against hand examples and EAGLE-1's published buffers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_viz import POLICIES, DraftTree, Node, OrphanError, RankLandscape

DYADIC = RankLandscape([2.0 ** -(rank + 1) for rank in range(12)])


def chain(confidences):
    return DraftTree.from_nodes(Node((0,) * (depth + 1), -1, c) for depth, c in enumerate(confidences))


@st.composite
def trees(draw):
    """Random trees grown by hanging a new child under a random node."""
    paths = [()]
    for _ in range(draw(st.integers(0, 30))):
        parent = draw(st.sampled_from(paths))
        paths.append((*parent, sum(path[:-1] == parent for path in paths[1:])))
    confidences = draw(st.lists(st.floats(0, 1), min_size=len(paths) - 1, max_size=len(paths) - 1))
    return DraftTree.from_nodes(Node(path, 7, c) for path, c in zip(paths[1:], confidences, strict=True))


def test_a_chain_is_worth_the_sum_of_its_path_products():
    tree = chain([0.9, 0.72 / 0.9, 0.55 / 0.72, 0.40 / 0.55])
    assert tree.values.tolist() == pytest.approx([1, 0.9, 0.72, 0.55, 0.40])
    assert tree.expected_accepted == pytest.approx(2.57)


def test_eagle1_buffers_equal_the_published_ones():
    tree = POLICIES["eagle1"]()(DYADIC, 25).tree
    assert tree.mask().sum() == 92
    assert tree.position_ids().tolist() == [0] + [1] * 4 + [2] * 8 + [3] * 8 + [4] * 3 + [5] * 2
    assert tree.retrieve_indices().shape == (15, 6)
    assert tree.expected_accepted == 2.265625


@given(trees())
def test_no_child_is_worth_more_than_its_parent(tree):
    assert (tree.values[1:] <= tree.values[tree.parents[1:]]).all()


@given(trees())
def test_a_mask_row_holds_exactly_the_way_to_the_root(tree):
    for node, row in enumerate(tree.mask()):
        assert np.flatnonzero(row).tolist() == tree.ancestry(node)


@given(trees())
def test_retrieve_rows_are_the_root_to_leaf_paths(tree):
    rows = [row[row >= 0].tolist() for row in tree.retrieve_indices()]
    assert rows == [tree.ancestry(leaf) for leaf in tree.leaves.tolist()]
    assert {node for row in rows for node in row} | {0} == set(range(len(tree)))


@given(trees(), st.randoms(use_true_random=False))
def test_numbering_does_not_depend_on_the_order_given(tree, random):
    nodes = tree.nodes()
    random.shuffle(nodes)
    again = DraftTree.from_nodes(nodes)
    assert again.paths == tree.paths and again.values.tolist() == tree.values.tolist()


def test_text_shows_each_factor_and_product():
    tree = DraftTree.from_nodes([Node((0,), -1, 0.8), Node((0, 1), -1, 0.5), Node((2,), -1, 0.1)])
    assert tree.text() == (
        "root\n├─ 0  0.800  1 x 0.800 = 0.800\n│  └─ 0.1  0.500  0.800 x 0.500 = 0.400\n└─ 2  0.100  1 x 0.100 = 0.100"
    )


def test_an_orphan_is_an_error_and_never_repaired():
    with pytest.raises(OrphanError, match="0.1.*parent 0"):
        DraftTree.from_nodes([Node((0, 1), -1, 0.5)])
    with pytest.raises(OrphanError):
        DraftTree(tokens=[0, 1, 2], parents=[-1, 2, 0], ranks=[-1, 0, 0], confidences=[1, 0.5, 0.5])


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_a_confidence_outside_0_to_1_is_named(confidence):
    with pytest.raises(ValueError, match="confidences: node 1"):
        DraftTree.from_nodes([Node((0,), -1, confidence)])


def test_two_nodes_on_one_path_are_an_error():
    with pytest.raises(ValueError, match="ranks"):
        DraftTree.from_nodes([Node((0,), 1, 0.5), Node((0,), 2, 0.4)])


def test_a_tree_cannot_be_changed_afterwards():
    tree = chain([0.5])
    with pytest.raises(ValueError):
        tree.confidences[1] = 0.9
