"""The stage as a Streamlit component: one trace in, what the user did out."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache

import streamlit as st

from .assets import source, style
from .player import MODES


@dataclass(frozen=True)
class StageState:
    """What the stage shows: ``step`` nodes kept of ``budget`` (root not counted), the mode, the sharpness if that slider was moved.

    ``dragging``: the sharpness slider is held right now. ``candidates``: what was scored but not kept is shown too. ``serial``
    counts the user's reports, 0 before the first.
    """

    step: int
    budget: int
    mode: str = "nodes"
    sharpness: float | None = None
    dragging: bool = False
    candidates: bool = False
    serial: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.step <= self.budget:
            raise ValueError(f"step: {self.step} given, allowed is 0 to the budget, {self.budget}")
        if self.mode not in MODES:
            raise ValueError(f"mode: {self.mode!r} given, allowed is one of {', '.join(MODES)}")


@dataclass(frozen=True)
class Command:
    """What Python last told the stage; a higher ``serial`` makes it follow. ``passed``: what Python passed at its last run."""

    serial: int
    budget: int
    step: int
    mode: str
    follow: int
    passed: tuple[int, int, str]


def next_command(last: Command | None, wanted: StageState, follow: int, reported: Mapping | None) -> Command:
    """The command in force: a new one where Python wants something else than it last passed, the old one while it merely echoes.

    Law: a stage that reported (budget, step, mode) and hears the same back is left alone, so that an echo never pulls at a slider
    that is still moving.
    """
    passed = (wanted.budget, wanted.step, wanted.mode)
    if last is None:
        return Command(1, *passed, follow, passed)
    told = (last.budget, last.step, last.mode)
    seen = (reported["budget"], reported["step"], reported["mode"]) if reported else told
    changed = passed != seen and (passed != last.passed or not reported)
    if changed or follow != last.follow:
        return Command(last.serial + 1, *passed, follow, passed)
    return replace(last, passed=passed)


def state_of(command: Command, reported: Mapping | None, sharpness: float | None) -> StageState:
    """What the stage shows: the user's last report, or the command where that is newer."""
    if not reported or reported["command"] != command.serial:
        seen = bool(reported and reported["candidates"])
        serial = 0 if not reported else reported["serial"]
        return StageState(command.step, command.budget, command.mode, sharpness, False, seen, serial)
    moved = reported["sharpness"] if sharpness is not None else None
    return replace(_state(reported), sharpness=moved)


@cache
def _component() -> Callable:
    return st.components.v2.component(
        "eagle_viz.stage", html='<div class="eagle-viz-stage"></div>', css=style(), js=source(), isolate_styles=True
    )


def stage_state(key: str = "stage") -> StageState | None:
    """The stage's last report, for a callback; None before the user did anything."""
    reported = _reported(key)
    if not reported:
        return None
    return _state(reported)


def _state(reported: Mapping) -> StageState:
    return StageState(**{field.name: reported[field.name] for field in fields(StageState)})


def was_heard(key: str = "stage") -> bool:
    """Whether the last report comes from a stage that had heard Python's last command, for a callback.

    One sent before would undo that command.
    """
    reported = _reported(key)
    return bool(reported) and reported["command"] == st.session_state[f"{key} command"].serial


def drawn_token(key: str = "stage") -> str | None:
    """The ``acknowledge`` token of the picture that the browser has just drawn, for the callback ``on_drawn``."""
    held = st.session_state.get(key)
    return held.get("drawn") if held else None


def _reported(key: str) -> dict | None:
    held = st.session_state.get(key)
    report = held.get("report") if held else None
    return dict(report) if report else None


def stage(
    trace: Mapping[str, object],
    *,
    budget: int = 25,
    step: int | None = None,
    mode: str = "nodes",
    live_sharpness: float | None = None,
    sharpness_range: tuple[float, float] = (0.1, 4.0),
    max_budget: int = 128,
    height: int = 440,
    follow: int = 0,
    acknowledge: str | None = None,
    charts: bool = True,
    on_change: Callable[[], None] | None = None,
    on_drawn: Callable[[], None] | None = None,
    key: str = "stage",
) -> StageState:
    """Mount the two trees of a trace; returns what the stage shows now.

    The stage owns step, budget, mode, zoom and play. It follows ``budget``, ``step`` and ``mode`` when they differ from what was
    last passed and from what it reported, or when ``follow`` rises; an echo leaves it alone. ``live_sharpness`` adds a slider that
    reports while it is dragged (``StageState.dragging``). ``on_change`` runs before the script, as any widget's callback does.
    ``acknowledge``: once this picture has been painted and its nodes have come to rest, the browser says this token, once, and
    ``on_drawn`` runs: the one message that is not a user's, for what should wait until the trees are on screen.
    ``charts``: the numbers and the two charts below the trees. Raises ``ValueError`` naming the field for a step, budget or mode
    that is not allowed.
    """
    if not 1 <= budget <= max_budget:
        raise ValueError(f"budget: {budget} given, the stage shows 1 to {max_budget}")
    wanted = StageState(budget if step is None else step, budget, mode)
    reported, memory = _reported(key), f"{key} command"
    last = st.session_state.get(memory)
    if last is not None:
        _spare_imports()
    command = st.session_state[memory] = next_command(last, wanted, follow, reported)
    options = {"max_budget": max_budget, "height": height, "sharpness": live_sharpness, "sharpness_range": list(sharpness_range)}
    options |= {"acknowledge": acknowledge, "charts": charts}
    _component()(
        key=key,
        data=_encoded({"trace": trace, "command": _told(command), "options": options}),
        on_report_change=on_change or _nothing,
        on_drawn_change=on_drawn or _nothing,
    )
    return state_of(command, reported, live_sharpness)


@cache
def _spare_imports() -> None:
    """Take everything that the first run imported out of the garbage collector, once a process.

    Streamlit collects in full after every rerun, 50 ms over modules that live for ever: more than a redraw from Python takes.
    """
    gc.collect()
    gc.freeze()


def _encoded(data: Mapping[str, object]) -> bytes:
    """JSON as bytes: streamlit passes these on as they are, where a mapping is searched for data frames (which loads pandas, half a
    second in the first session) and written out twice."""
    return json.dumps(data, separators=(",", ":")).encode()


def _told(command: Command) -> dict[str, object]:
    """What the browser hears: only what changes with a command, so that an echo sends no new data."""
    return {"serial": command.serial, "budget": command.budget, "step": command.step, "mode": command.mode}


def _nothing() -> None:
    """A state key needs a callback to exist."""
