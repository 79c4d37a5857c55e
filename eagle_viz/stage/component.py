"""The stage as a Streamlit component: a trace and a command in, what the user did out."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache

import streamlit as st

from .assets import source, style
from .player import MODES


@dataclass(frozen=True)
class Command:
    """What Python wants the stage to show: ``step`` nodes kept of ``budget`` (root not counted), in this mode.

    The stage follows a command whose ``revision`` it has not heard yet and ignores one that it knows, so that the answer to its own
    report never pulls at a slider that is still moving. ``in_sight``: following it, the stage also scrolls itself into sight.
    Raises ``ValueError`` for a step or a mode that cannot be shown.

    >>> Command(1, budget=25, step=26)
    Traceback (most recent call last):
    ValueError: step: 26 given, allowed is 0 to the budget, 25
    """

    revision: int
    budget: int
    step: int
    mode: str = "nodes"
    in_sight: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.step <= self.budget:
            raise ValueError(f"step: {self.step} given, allowed is 0 to the budget, {self.budget}")
        if self.mode not in MODES:
            raise ValueError(f"mode: {self.mode!r} given, allowed is one of {', '.join(MODES)}")


@dataclass(frozen=True)
class StageReport:
    """What the user did in the stage; ``sharpness`` is None unless its slider was moved.

    ``told``: revision of the last command that the stage had heard. ``dragging``: the sharpness slider is held right now.
    ``candidates``: what was scored but not kept is shown too. ``serial`` counts the reports of a stage.
    """

    step: int
    budget: int
    mode: str
    told: int
    sharpness: float | None = None
    dragging: bool = False
    candidates: bool = False
    serial: int = 0


@cache
def _component() -> Callable:
    return st.components.v2.component(
        "eagle_viz.stage", html='<div class="eagle-viz-stage"></div>', css=style(), js=source(), isolate_styles=True
    )


def stage_report(key: str = "stage") -> StageReport | None:
    """The stage's last report; None before the user did anything."""
    reported = _said(key).get("report")
    return StageReport(**{field.name: reported[field.name] for field in fields(StageReport)}) if reported else None


def painted_revision(key: str = "stage") -> int | None:
    """The revision that the browser last said it has painted; None before it said anything."""
    return _said(key).get("painted")


def _said(key: str) -> Mapping:
    return st.session_state.get(key) or {}


def stage(
    trace: Mapping[str, object],
    command: Command,
    *,
    live_sharpness: float | None = None,
    sharpness_range: tuple[float, float] = (0.1, 4.0),
    max_budget: int = 128,
    height: int = 440,
    ask: int | None = None,
    charts: bool = True,
    on_report: Callable[[], None] | None = None,
    on_painted: Callable[[], None] | None = None,
    key: str = "stage",
) -> None:
    """Mount the two trees of a trace.

    The stage owns step, budget, mode, zoom and play and reports what the user did with them (``stage_report``); it takes them from
    a ``command`` it has not heard yet. ``live_sharpness`` adds a slider that reports while it is dragged.
    ``ask``: a revision that the browser is to answer (``painted_revision``) once this picture is painted and its nodes have come to
    rest; it answers each revision once. ``on_report`` and ``on_painted`` run before the script, as any widget's callback does.
    ``charts``: the numbers and the two charts below the trees. Raises ``ValueError`` for a budget above ``max_budget``.
    """
    if not 1 <= command.budget <= max_budget:
        raise ValueError(f"budget: {command.budget} given, the stage shows 1 to {max_budget}")
    if _said(key):
        _spare_imports()
    options = {
        "max_budget": max_budget,
        "height": height,
        "sharpness": live_sharpness,
        "sharpness_range": list(sharpness_range),
        "ask": ask,
        "charts": charts,
    }
    _component()(
        key=key,
        data=_encoded({"trace": trace, "command": _sent(command), "options": options}),
        on_report_change=on_report or _nothing,
        on_painted_change=on_painted or _nothing,
    )


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


def _sent(command: Command) -> dict[str, object]:
    shown = {"budget": command.budget, "step": command.step, "mode": command.mode}
    return {"told": command.revision, "in_sight": command.in_sight} | shown


def _nothing() -> None:
    """A state key needs a callback to exist."""
