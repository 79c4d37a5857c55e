"""Pass times as text and as a table: what is edited in one is what the other shows."""

import json

import pytest

from eagle_viz.core.cost import PassCost, parse_times
from eagle_viz.ui import times
from eagle_viz.ui.settings import PROPERTIES, Settings
from tests.ui.pages import said

TABLE = PassCost("mine", (1, 64, 256), (10.0, 11.0, 30.0), 0.6, plain_ms=9.0)


@pytest.mark.parametrize("unit", times.UNITS.values())
def test_a_table_in_any_unit_is_the_text_it_came_from(unit):
    """Rows, and the text of these rows: the same times."""
    assert times.text_of(times.rows_of(TABLE, unit), unit) == TABLE.text


def test_edited_deleted_and_added_rows_by_hand():
    """What Streamlit reports of an editor: 64 takes 12 ms now, plain is gone, 128 is new and a half-filled row waits."""
    edits = {"edited_rows": {1: {"time": 12}}, "deleted_rows": [4], "added_rows": [{"what": "128", "time": 20}, {"what": "512"}]}
    text = times.text_of(times.edited_rows(times.rows_of(TABLE, 1.0), edits), 1.0)
    assert text == "1:10 64:12 128:20 256:30 draft:0.6"
    assert parse_times("mine", text).sizes == (1, 64, 128, 256)


@pytest.mark.parametrize(("row", "refused"), [({"what": "abc def", "time": 5}, True), ({"what": "128", "time": 20}, False)])
def test_a_row_of_the_table_is_checked_as_typed_text_is(monkeypatch, row, refused):
    """What is no position is refused in a sentence and the times stay; a good row is taken."""
    taken, said_of = [], []
    monkeypatch.setattr(times.st, "session_state", {"k": {"edited_rows": {}, "deleted_rows": [], "added_rows": [row]}})
    monkeypatch.setattr(times.session, "refuse", lambda name, text, why: said_of.append((name, why)))
    monkeypatch.setattr(times, "_take", taken.append)
    times._table_edited("k", times.rows_of(TABLE, 1.0), 1.0)
    assert bool(said_of) == refused != bool(taken)
    assert all(name == "times" and "abc" in why for name, why in said_of)


@pytest.mark.parametrize("name", times.titles())
def test_every_source_gives_times_that_rise_and_a_title_that_says_what_they_are(name):
    """Measured, assumed or estimated stands in each title; each name is a setting."""
    assert name in PROPERTIES["cost"].choices
    assert any(word in times.titles()[name] for word in ("measured", "assumed", "estimated"))
    cost = times.source_of(Settings(cost=name))
    assert cost.verify_ms[0] > 0 and times.cost_of(Settings(cost=name, times=cost.text)).verify_ms[-1] == pytest.approx(
        cost.verify_ms[-1], rel=1e-4
    )


def test_rows_of_sglangs_benchmark_are_pasted_and_bad_text_is_one_sentence(speed_page):
    """A pasted benchmark becomes the times it tells; rows that do not tell are refused and nothing changes."""
    app = speed_page()
    box = app.text_area[0]
    rows = [(1, 0, 0, 10e-3), (1, 3, 16, 14e-3), (1, 5, 16, 16e-3)]
    names = ("batch_size", "steps", "num_draft_tokens", "step_time")
    lines = "\n".join(json.dumps(dict(zip(names, row, strict=True)) | {"acc_length": 2.0}) for row in rows)
    box.set_value(lines.splitlines()[0]).run()
    assert not app.exception and "needed is a run of steps 0" in said(app)
    assert "times" not in app.query_params
    app.text_area[0].set_value(lines).run()
    assert not app.exception and "1:10 16:11 draft:1" in app.query_params["times"]


@pytest.mark.parametrize("name", ["gpu", "h100"])
def test_a_source_is_chosen_and_shown_as_text_and_as_a_table(speed_page, name):
    """The page stands with an estimate and an assumption; the drawer holds their times, and an estimate names its data sheet."""
    app = speed_page(cost=name, state={"times_as_table": True})
    assert not app.exception
    assert app.dataframe[0].value["time"].tolist()[0] == pytest.approx(times.source_of(Settings(cost=name)).verify_ms[0], rel=1e-4)
    assert ("data sheet" in said(app)) == (name == "h100")
    assert app.text_area[0].value == times.source_of(Settings(cost=name)).text
