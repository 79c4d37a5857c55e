"""Files deleted while a page is open: the page goes on with what there is, and says what is gone."""

import html
import shutil
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from eagle_viz.core import recording
from eagle_viz.ui import live

APP = str(Path(__file__).parents[2] / "app.py")
SHIPPED = recording.shipped()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two recordings in a folder of their own, which the page takes for the shipped one."""
    for name in ("oracle-fact", "oracle-sql"):
        shutil.copy(SHIPPED[name], tmp_path)
    found = recording.shipped
    monkeypatch.setattr(recording, "shipped", lambda: found(tmp_path))
    return tmp_path


def said(page):
    assert not page.exception
    return html.unescape("".join(part.proto.body for part in page.get("html")))


@pytest.mark.parametrize("view", ["text", "speed", "lab"])
def test_a_recording_deleted_under_an_open_page_is_named(folder, view):
    """First the one that is looked at, then all, then the folder: another is shown with a sentence, then one says there is none."""
    page = AppTest.from_file(APP, default_timeout=120)
    page.query_params.update({"view": view, "source": "recording", "recording": "oracle-sql"})
    page.run()
    assert "oracle-sql" not in said(page)
    (folder / "oracle-sql.npz").unlink()
    assert "recording: 'oracle-sql' given, allowed is one of oracle-fact; oracle-fact is used." in said(page.run())
    (folder / "oracle-fact.npz").unlink()
    assert "no recording" in said(page.run()).lower()
    folder.rmdir()
    assert "no recording" in said(page.run()).lower()


def test_a_model_folder_deleted_before_an_answer_is_one_sentence(tmp_path, monkeypatch):
    """The head's folder, or the target's: the run ends as one sentence."""
    monkeypatch.setenv("EAGLE_VIZ_HOME", str(tmp_path))
    monkeypatch.setattr(live, "HEADS", tmp_path / "gone")
    run = live.start(live.Request(live.asked("Hello"), "head", 16, 25, 10, 6))
    while not run.finished:
        time.sleep(0.01)
    assert run.error.startswith(("head: none is shipped", "target: its weights are not here yet")) and "\n" not in run.error
