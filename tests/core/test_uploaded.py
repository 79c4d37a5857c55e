"""Trees from files: what was exported loads back, what is no such file is refused in a sentence."""

import json

import numpy as np
import pytest

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
    with pytest.raises(ValueError, match="the file holds no more nodes"):
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
        (json.dumps({"version": 9}).encode(), "version: 9"),
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
