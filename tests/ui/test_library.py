"""A recording that cannot be read is a sentence on every view that needs it."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from eagle_viz.core import recording
from eagle_viz.ui import library
from eagle_viz.ui.settings import RECORDED_VIEWS

APP = str(Path(__file__).parents[2] / "app.py")


@pytest.mark.parametrize("view", [*RECORDED_VIEWS, "lab"])
def test_a_broken_recording_is_said_and_nothing_crashes(view, tmp_path, monkeypatch):
    (tmp_path / "head-broken.npz").write_bytes(b"PK not a recording")
    monkeypatch.setattr(recording, "shipped", lambda: {path.stem: path for path in tmp_path.glob("*.npz")})
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["view"], app.query_params["source"] = view, "recording"
    app.run()
    assert not app.exception


def test_two_answers_to_one_prompt_are_told_apart(monkeypatch):
    monkeypatch.setattr(library, "title", lambda name: name.partition("/")[0])
    assert library.titles(["a/1", "b", "a/2", "a/3"]) == {"a/1": "a", "b": "b", "a/2": "a · 2", "a/3": "a · 3"}
