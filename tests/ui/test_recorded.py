"""What the views on recorded text hand to their components, against a hand-made recording."""

from dataclasses import replace

import numpy as np
import pytest

from eagle_viz import POLICIES, RecordedLandscape
from eagle_viz.core.landscape import Candidates
from eagle_viz.core.recording import LiveVerdict, RecordedCycle, Recording
from eagle_viz.core.replay import Pass
from eagle_viz.ui.reader import cycle_tokens, reader_data
from eagle_viz.ui.verdicts import verdict_sentence
from eagle_viz.ui.verify_pass import pass_rows

CUT = "\ufffd"

A, B, C, D = 1, 2, 3, 4
TEXTS = {A: " a", B: "\n", C: "<b>", D: "d"}


def children(*pairs):
    return Candidates(np.array([token for token, _ in pairs]), np.array([confidence for _, confidence in pairs]))


@pytest.fixture
def recording():
    """Answer A B C D A: the first root is A, its leader accepts B and gets C; the second root is C, nothing is accepted."""
    sure, halves = children((A, 0.9), (B, 0.1)), children((A, 0.5), (B, 0.5))
    first = RecordedLandscape({(): children((B, 0.5), (C, 0.25)), (0,): children((D, 0.5), (C, 0.25)), (1,): sure}, A)
    second = RecordedLandscape({(): children((A, 0.5), (B, 0.25)), (0,): halves, (1,): halves}, C)
    cycles = (
        RecordedCycle(10, first, (B, C, D, A), (LiveVerdict("eagle2", 3, (0,), C),)),
        RecordedCycle(12, second, (D, A), (LiveVerdict("eagle2", 3, (), D),)),
    )
    pieces = tuple(TEXTS[token] for token in (A, B, C, D, A))
    tokens = (*range(10), A, B, C, D, A)
    return Recording("head-test", "A test", "test", "Say.", "target", "head", tokens, 10, 5, pieces, TEXTS, cycles)


def test_a_cycle_is_its_accepted_drafts_its_bonus_and_what_nobody_recorded(recording):
    assert [(t["text"], t["kind"]) for t in cycle_tokens(recording, 0, 2)] == [("\n", "accepted"), ("<b>", "bonus")]
    assert [(t["text"], t["kind"]) for t in cycle_tokens(recording, 1, 4)] == [("d", "bonus"), (" a", "plain")]
    assert "confidence 0.50, path product 0.50, rank 0" in cycle_tokens(recording, 0, 2)[0]["hint"]


def test_the_components_tokens_spell_the_answer(recording):
    passes = [Pass(3, 2, 2, 1.0, 1, 2), Pass(3, 1, 3, 0.5, 0, 1)]
    data = reader_data(recording, passes, passes, 1, ("EAGLE-1 shape", "EAGLE-2"))
    spelled = data["before"] + "".join(token["text"] for cycle in data["cycles"] for token in cycle["tokens"])
    assert spelled == recording.answer and data["selected"] == 1
    assert data["cycles"][0]["dynamic"] == {"budget": 3, "depth": 2, "width": 2, "expected": 1.0, "accepted": 1, "written": 2}
    assert not any(cycle["harvest"] for cycle in data["cycles"])
    assert data["cycles"][0]["label"].endswith(
        "EAGLE-1 shape: 2 levels, 2 nodes wide, 1 accepted; EAGLE-2: 2 levels, 2 nodes wide, 1 accepted."
    )


def test_a_verdict_says_what_was_taken_and_where_the_targets_token_stood(recording):
    cycle = recording.cycles[0]
    chain = POLICIES["chain"]()(cycle.landscape, 2).tree
    assert verdict_sentence(recording, 0, chain) == (
        "1 of 2 drafted tokens accepted: “⏎”. Then the target wrote “<b>”, "
        "guess number 2 with confidence 0.25: worth 0.12, which this tree did not keep."
    )
    none = POLICIES["chain"]()(recording.cycles[1].landscape, 1).tree
    assert verdict_sentence(recording, 1, none) == (
        "Nothing accepted. Then the target wrote “d”, not among the drafter's 2 guesses."
    )


def test_a_sign_cut_between_accepted_tokens_is_quoted_whole(recording):
    """Two accepted tokens whose bytes make one sign: the sentence quotes the text, not each token alone."""
    texts = TEXTS | {B: CUT, D: CUT}
    cut = replace(recording, texts=texts, pieces=(" a", "", "\U0001f600", "d", " a"), tokens=(*range(10), A, B, D, C, A))
    cut = replace(cut, cycles=(replace(recording.cycles[0], continuation=(B, D, C, A)),))
    tree = POLICIES["chain"]()(cut.cycles[0].landscape, 2).tree
    assert verdict_sentence(cut, 0, tree).startswith("2 of 2 drafted tokens accepted: “\U0001f600”. Then the target wrote “<b>”")


def test_rows_of_the_pass_are_the_trees_buffers(recording):
    tree = POLICIES["best_first"](max_depth=2)(recording.cycles[0].landscape, 4).tree
    data = pass_rows(recording, 0, tree)
    rows = data["rows"]
    assert [row["attends"] for row in rows] == [np.flatnonzero(line).tolist() for line in tree.mask()]
    assert [row["position"] - 10 for row in rows] == tree.position_ids().tolist()
    assert [row["text"] for row in rows[:3]] == ["␣a", "⏎", "<b>"]
    kept = [i for i, row in enumerate(rows) if row["fate"] == "kept"]
    assert kept == [0, *recording.cycles[0].verdict(tree).accepted]
    assert f"{int(tree.mask().sum())} ones in the mask" in data["summary"]
    assert "dropped: not accepted" in {row["said"] for row in rows}
