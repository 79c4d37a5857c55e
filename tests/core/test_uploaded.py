"""Trees from files: what was exported loads back, what is no such file is refused in a sentence."""

import json

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from eagle_viz import SyntheticLandscape, compare
from eagle_viz.core.documents import comparison_document
from eagle_viz.core.readout import step_sentence
from eagle_viz.core.uploaded import read_upload


def exported(**changes):
    document = comparison_document(compare(SyntheticLandscape(seed=4), 25, "eagle1", "eagle2"))
    return document | changes


def test_what_compare_wrote_loads_back_to_the_same_trees():
    pair = compare(SyntheticLandscape(seed=4), 25, "eagle1", "eagle2")
    found = read_upload(json.dumps(comparison_document(pair)).encode())
    for given, draft in ((found.static, pair.static), (found.dynamic, pair.dynamic)):
        again = given(found.landscape, 25)
        assert again.order == draft.order and again.tree.paths == draft.tree.paths
        np.testing.assert_array_equal(again.tree.values, draft.tree.values)
    assert "next in the given order" in step_sentence(found.static(found.landscape, 25), 3)
    again = compare(found.landscape, 25, found.static, found.dynamic)
    assert again.gain == pair.gain
    assert (found.static.title, found.dynamic.title) == ("EAGLE-1 shape (file)", "EAGLE-2 (file)")


def test_a_smaller_budget_shows_the_first_nodes_and_a_larger_one_says_there_are_no_more():
    found = read_upload(json.dumps(exported()).encode())
    assert found.dynamic(found.landscape, 7).order == found.dynamic.paths[:7]
    with pytest.raises(ValueError, match="its list holds no more nodes"):
        found.dynamic(found.landscape, 26)


def node(path, confidence, **more):
    return {"path": path, "confidence": confidence} | more


NONE = {"nodes": []}


@pytest.mark.parametrize(
    "content,sentence",
    [
        (b"not json", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[1]", "version"),
        (json.dumps({"version": 9}).encode(), r'Not a draft-tree file \(no "version": 1\)'),
        (json.dumps(exported(static={"nodes": [node("0.1", 0.5)]})).encode(), "without its parent"),
        (json.dumps(exported(static={"nodes": [node("0", 0.4), node("1", 0.5)]}, dynamic=NONE)).encode(), "rises with rank"),
        (json.dumps(exported(static={"nodes": [node("99999999", 0.4)]}, dynamic=NONE)).encode(), "rank 99999999"),
        (json.dumps(exported(static={"nodes": [node("0", 0.123)]})).encode(), "another confidence"),
        (b" " * (4 * 2**20 + 1), "4 MB"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_sentence(content, sentence):
    with pytest.raises(ValueError, match=sentence) as refused:
        read_upload(content)
    assert "\n" not in str(refused.value)


def test_gaps_in_the_ranks_are_kept_as_gaps():
    document = exported(static={"nodes": [node("2", 0.2, token=5, text=" x")]}, dynamic={"nodes": [node("0", 0.5)]})
    found = read_upload(json.dumps(document).encode())
    assert found.landscape.candidates[()].confidences.tolist() == [0.5, 0.2, 0.2]
    assert found.static(found.landscape, 1).order == ((2,),) and found.landscape.token_text(5) == " x"


def document(*nodes, **more):
    """A comparison of a tree with itself, as the stage's JSON button writes it."""
    side = {"policy": "eagle2", "nodes": list(nodes)} | more
    return json.dumps({"version": 1, "static": side, "dynamic": side, "gain": 0}).encode()


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"path": "0", "confidence": 0.5, "token": 2**63}, "^token: .* allowed is a whole number from 0 to 2147483647"),
        ({"path": "0", "confidence": 0.5, "token": -(2**70)}, "^token: "),
        ({"path": str(10**30), "confidence": 0.5}, "^path: rank 1000000000.* allowed is 0 to 1023"),
        ({"path": ".".join(["0"] * 2000), "confidence": 0.5}, "^path: 2000 levels given, allowed are at most 1024"),
        ({"path": "0", "confidence": 10**400}, "^confidence: "),
        ({"path": "0", "confidence": "\ud800"}, "^confidence: "),
        ({"path": "\ud800", "confidence": 0.5}, "^path: "),
    ],
)
def test_numbers_and_texts_beyond_every_array_are_one_sentence(node, message):
    with pytest.raises(ValueError, match=message):
        read_upload(document(node))


def test_siblings_that_promise_more_than_everything_are_refused():
    """0.9 and 0.9 below one root: a one-level tree would expect 1.8 tokens of one."""
    with pytest.raises(ValueError, match="^confidence: 1.8 given below root together, allowed is at most 1"):
        read_upload(document({"path": "0", "confidence": 0.9}, {"path": "1", "confidence": 0.9}))
    thirds = [{"path": str(rank), "confidence": 0.333334} for rank in range(3)]
    assert read_upload(document(*thirds)).dynamic.paths == ((0,), (1,), (2,))


def test_half_characters_in_a_tokens_text_can_be_sent_to_a_page():
    found = read_upload(document({"path": "0", "confidence": 0.5, "token": 3, "text": "a\ud800b"}))
    assert found.landscape.token_text(3) == "a?b"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@hypothesis.given(data=st.data())
def test_a_document_with_anything_anywhere_is_read_or_refused(data):
    """Any field of any node, side or document replaced by anything: a ValueError of one line, or trees."""
    nodes = [{"path": "0", "confidence": 0.5, "token": 7, "text": "x"}, {"path": "0.0", "confidence": 0.25}]
    whole = {"version": 1, "static": {"policy": "chain", "nodes": nodes}, "dynamic": {"policy": "eagle2", "nodes": nodes}}
    place = data.draw(st.sampled_from([whole, whole["static"], nodes[0], nodes[1]]))
    place[data.draw(st.sampled_from([*place, "more"]))] = data.draw(JSON)
    try:
        found = read_upload(json.dumps(whole).encode())
    except ValueError as error:
        assert str(error) and "\n" not in str(error)
    else:
        assert found.static(found.landscape, len(found.static.paths) or 1).tree.paths if found.static.paths else True
