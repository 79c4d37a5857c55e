"""The card of the shipped table: every policy with its interval, leads as shares, and nothing where no table is shipped."""

import json

import pytest

from eagle_viz.ui import many_contexts
from tests.core.test_measured import CONTEXTS, document


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """The hand-made table in place of the shipped one."""
    file = tmp_path / "measured.json"
    file.write_text(json.dumps(document()))
    monkeypatch.setattr(many_contexts, "FILE", file)
    many_contexts.table.clear()
    yield many_contexts.table()
    many_contexts.table.clear()


def test_each_policy_has_a_row_with_promise_and_outcome(shipped):
    """EAGLE-2 wrote 2, 3 and 1 tokens: tau 2.00; it expected 1.10 and got 1.00 drafted tokens a pass."""
    rows = many_contexts._policies(shipped).split("<tr>")[2:]
    assert len(rows) == len(CONTEXTS)
    assert ">EAGLE-2<" in rows[0] and "<td>2.00 <i>(" in rows[0] and "<td>1.00</td><td>1.10</td>" in rows[0]
    assert "read for greedy decoding" in many_contexts._policies(shipped)


def test_a_lead_is_a_share_of_what_the_other_writes(shipped):
    """2/3 of a token over 4/3: half as many again."""
    said = many_contexts._lead(shipped, "eagle2:4", "chain:2", "on these passes")
    assert "writes +50% tokens a pass against" in said and "95 % interval" in said


def test_kinds_stand_beside_one_another(shipped):
    """A row a kind, a column a policy."""
    cells = many_contexts._kinds(shipped)
    assert "<td>verse</td><td>2.00</td><td>2.00</td>" in cells and "<td>code</td><td>2.00</td><td>1.00</td>" in cells


def test_the_calibration_sentence_names_both_errors(shipped):
    """The number of passes, the source, and each reading's error."""
    (said,) = many_contexts.calibration()
    assert said.startswith("On 3 passes of mt_bench (3 drafted tokens) the calibration error is 0.100") and "greedy" in said


def test_nothing_is_said_without_a_table(tmp_path, monkeypatch):
    """No file, no card and no sentence."""
    monkeypatch.setattr(many_contexts, "FILE", tmp_path / "none.json")
    many_contexts.table.clear()
    assert many_contexts.table() is None and many_contexts.calibration() == []
    many_contexts.table.clear()
