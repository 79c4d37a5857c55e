"""The card of predicted against measured speeds: from the file to the page, and nothing where no file is."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from eagle_viz.ui import predicted
from tests.core.test_predicted import document
from tests.ui.pages import said


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A function that ships this text in place of the table."""

    def ship(text):
        file = tmp_path / "predicted.json"
        file.write_text(text)
        monkeypatch.setattr(predicted, "FILE", file)
        predicted.table.clear()

    yield ship
    predicted.table.clear()


def test_the_table_shows_each_setting_with_its_error(shipped):
    """A column a precision; a setting that was not measured in one has a dash there; the summary follows from the rows."""
    shipped(json.dumps(document()))
    rows = predicted.rows(predicted.table())
    assert "<td>chain 3</td><td>27.7 / 27.2 <i>(+2%)</i></td><td>–</td>" in rows
    assert "<td>priced</td><td>36.6 / 34.9 <i>(+5%)</i></td><td>51.0 / 48.6 <i>(+5%)</i></td>" in rows
    summary = predicted.summary(predicted.table())
    assert "Median error 5%, worst 5%." in summary and "priced in bfloat16, reaches 100% of the fastest" in summary


def alone():
    """A page that holds the card and nothing else."""
    from eagle_viz.ui import predicted

    predicted.card()


def on_the_page():
    """What the card says there."""
    app = AppTest.from_function(alone).run()
    assert not app.exception
    return said(app)


def test_a_broken_file_is_one_sentence_on_the_page(shipped):
    """The table where it can be read; what is wrong with the file where it cannot."""
    shipped(json.dumps(document()))
    assert "data-testid='predicted'" in on_the_page() and "mt_bench, 3 prompts" in on_the_page()
    shipped("{")
    assert "predicted.json is not what `bench predict --json` prints" in on_the_page()


def test_nothing_is_shown_without_a_table(tmp_path, monkeypatch):
    """No file, no card."""
    monkeypatch.setattr(predicted, "FILE", tmp_path / "none.json")
    assert on_the_page() == ""
