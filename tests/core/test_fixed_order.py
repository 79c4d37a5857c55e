"""Node lists as EAGLE and Medusa write their choices: read in every spelling, drafted as they stand, refused in one sentence."""

import json

import hypothesis
import pytest
from hypothesis import strategies as st

from eagle_viz import POLICIES, RankLandscape, SyntheticLandscape, compare
from eagle_viz.core.policies import EAGLE1_PATHS, FixedOrder, PoolTooSmallError, read_choices
from eagle_viz.core.tree import canonical_order

HALVES = RankLandscape([0.5, 0.25, 0.125, 0.0625])


@pytest.mark.parametrize(
    "text",
    [
        "[[0],[0,0],[1]]",
        " [ [0], [0, 0],\n  [1], ] ",
        "[(0,), (0, 0), (1,)]",
        "((0,), (0, 0), (1,))",
        "# a comment\nmc_sim = [[0], [0, 0], [1]]  # three nodes\n",
    ],
)
def test_every_spelling_is_the_same_shape(text):
    """JSON, Python lists, Medusa's tuples, the one assignment of a file."""
    assert read_choices(text).paths == ((0,), (0, 0), (1,))


def test_eagles_own_list_is_eagle_1s_shape():
    """The published 25 paths, read as choices: the tree that the policy `eagle1` drafts, on any landscape of four candidates."""
    own = read_choices(json.dumps([list(path) for path in EAGLE1_PATHS]))
    for landscape in (HALVES, SyntheticLandscape(seed=3)):
        mine, known = own(landscape, 25), POLICIES["eagle1"]()(landscape, 25)
        assert mine.tree.paths == known.tree.paths and mine.passes == known.passes == 5
    assert own(HALVES, 25).tree.expected_accepted == 2.265625


def test_a_list_out_of_order_is_taken_level_by_level():
    """A child before its parent: the nodes are right, the order is by level."""
    assert read_choices("[[0, 0], [0], [1]]").paths == ((0,), (1,), (0, 0))


def test_smaller_budgets_keep_the_first_nodes_and_missing_ranks_are_skipped():
    """By hand on two candidates a node: rank 5 does not exist, nor does what hangs below it."""
    own = read_choices("[[5], [0], [5, 0], [0, 1], [1]]")
    two = RankLandscape([0.5, 0.25])
    assert own(two, 2).order == ((0,), (0, 1)) and own(two, 3).order == ((0,), (0, 1), (1,))
    with pytest.raises(PoolTooSmallError, match="4 nodes asked of fixed_order, but it scores only 3 candidates here; its list"):
        own(two, 4)


def test_a_node_list_stands_wherever_a_policy_is_named():
    """As the static side of a comparison: 0.5 + 0.25 + 0.25 against the three best nodes 0.5 + 0.25 + 0.25."""
    pair = compare(HALVES, 3, "[[0],[0,0],[1]]", "best_first")
    assert pair.static.tree.expected_accepted == 1.0 and pair.gain == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "choices: '' given, allowed is one list of nodes as in"),
        ("[[0]", "choices: '\\[\\[0\\]' given"),
        ("a = [[0]]\nb = [[1]]", "choices: 'a = .*' given, allowed is one list"),
        ("[[0], 1]", "choices: 1 given, allowed are 1 to 256 child ranks from 0 to 1023"),
        ("[[0], [-1]]", "choices: \\[-1\\] given"),
        ("[[True]]", "choices: \\[True\\] given"),
        ("[[]]", "choices: \\[\\] given"),
        ("[]", "choices: 0 nodes given"),
        ("[[0], [0]]", "paths: 0 given twice"),
        ("[[0, 0], [1]]", "paths: 0.0 given without its parent 0"),
        ("[" * 5000, "choices: "),
        ("__import__('os').getcwd()", "choices: "),
        ("[[10**4000]]", "choices: "),
        ("{" * 300_000, "choices: 300000 characters given"),
    ],
)
def test_anything_else_is_refused_in_one_sentence(text, words):
    """Named, not run, never a crash."""
    with pytest.raises(ValueError, match=f"^{words}") as refused:
        read_choices(text)
    assert "\n" not in str(refused.value)


PATHS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=12)


@hypothesis.given(PATHS, st.randoms())
def test_a_closed_set_is_read_whole_in_any_order(paths, random):
    """Law: every prefix of what is read is a tree, and the set is the one given."""
    closed = {tuple(path[:depth]) for path in paths for depth in range(1, len(path) + 1)}
    listed = [list(path) for path in closed]
    random.shuffle(listed)
    own = read_choices(str(listed))
    assert set(own.paths) == closed and FixedOrder(paths=tuple(sorted(closed, key=canonical_order)))
    assert own(HALVES, len(closed)).order == own.paths
