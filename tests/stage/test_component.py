"""Who decides what the stage shows: the last one who meant something, never an echo."""

from types import SimpleNamespace

import pytest

from eagle_viz.stage import component
from eagle_viz.stage.component import StageState, next_command, state_of


def told(last, budget, step=None, follow=0, reported=None):
    return next_command(last, StageState(budget if step is None else step, budget), follow, reported)


def reported(command, budget, step=None, serial=1):
    return {
        "budget": budget, "step": budget if step is None else step, "mode": "nodes",
        "command": command.serial, "serial": serial, "sharpness": None, "dragging": False, "candidates": False,
    }  # fmt: skip


def test_an_echo_leaves_the_stage_alone_even_when_it_is_late():
    first = told(None, 25)
    moved = reported(first, 40)
    assert told(first, 40, reported=moved).serial == first.serial
    assert told(first, 25, reported=moved).serial == first.serial
    assert state_of(told(first, 25, reported=moved), moved, None).budget == 40


def test_a_changed_wish_of_python_is_followed():
    first = told(None, 25)
    moved = reported(first, 40)
    echoed = told(first, 40, reported=moved)
    preset = told(echoed, 25, reported=moved)
    assert preset.serial == first.serial + 1 and state_of(preset, moved, None) == StageState(25, 25, serial=1)
    assert told(preset, 25, reported=moved).serial == preset.serial


def test_the_same_wish_is_followed_again_only_when_follow_rises():
    first = told(None, 25)
    moved = reported(first, 40)
    again = told(first, 25, follow=1, reported=moved)
    assert again.serial == first.serial + 1 and told(again, 25, follow=1, reported=moved).serial == again.serial


def test_a_stage_that_was_taken_away_and_came_back_shows_what_python_passes():
    first = told(None, 25)
    echoed = told(first, 40, reported=reported(first, 40))
    assert told(echoed, 40, reported=None).budget == 40


@pytest.mark.parametrize("state", [{"step": 26, "budget": 25}, {"step": -1, "budget": 25}, {"step": 1, "budget": 2, "mode": "x"}])
def test_a_state_that_cannot_be_shown_is_refused_by_name(state):
    with pytest.raises(ValueError, match="step|mode"):
        StageState(**state)


def test_a_report_sent_before_a_command_was_heard_is_known_as_such(monkeypatch):
    first = told(None, 25)
    preset = told(first, 4, follow=1, reported=reported(first, 12))
    state = {"stage": {"report": reported(first, 12)}, "stage command": preset}
    monkeypatch.setattr(component, "st", SimpleNamespace(session_state=state))
    assert not component.was_heard("stage") and component.stage_state("stage").step == 12
    state["stage"] = {"report": reported(preset, 4)}
    assert component.was_heard("stage")
