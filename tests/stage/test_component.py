"""What the stage is told and what it reports."""

from types import SimpleNamespace

import pytest

from eagle_viz.stage import component
from eagle_viz.stage.component import Command, StageReport

REPORT = {
    "step": 3,
    "budget": 25,
    "mode": "nodes",
    "told": 7,
    "sharpness": None,
    "dragging": False,
    "candidates": False,
    "serial": 2,
}


@pytest.mark.parametrize("shown", [{"step": 26, "budget": 25}, {"step": -1, "budget": 25}, {"step": 1, "budget": 2, "mode": "x"}])
def test_a_command_that_cannot_be_shown_is_refused_by_name(shown):
    """The error names the field that is wrong."""
    with pytest.raises(ValueError, match="step|mode"):
        Command(1, **shown)


def test_a_report_says_which_command_the_stage_had_heard(monkeypatch):
    """The browser's words come back as they were sent; before the first there is none."""
    state = {}
    monkeypatch.setattr(component, "st", SimpleNamespace(session_state=state))
    assert component.stage_report("stage") is None and component.painted_revision("stage") is None
    state["stage"] = {"report": REPORT, "painted": 4}
    assert component.stage_report("stage") == StageReport(3, 25, "nodes", told=7, serial=2)
    assert component.painted_revision("stage") == 4
