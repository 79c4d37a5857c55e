"""The stage on the page: what it is sent, when it is asked whether it has painted, and what it reports."""

from __future__ import annotations

import streamlit as st

from ..core.landscape import NotRecordedError
from ..stage import painted_revision, stage, stage_report
from ..stage.trace import TIERS, tier_of
from . import chrome, controls, session, world
from .page import STAGE, Origin
from .settings import ALL_STEPS, PROPERTIES, Settings, effective_settings


@st.fragment(key=STAGE)
def panel() -> None:
    """The stage. Runs alone while one steps or holds its sharpness.

    New trees come without what one does not see at first (candidates, further tiers, rolls), which takes longer than they do; that
    follows when they are painted, with the charts.
    """
    page, drawn = session.page(), False
    with chrome.in_one_sentence():
        _mount()
        drawn = True
    if page.held:
        return  # the link waits until the hand lets go
    session.write_link()
    if not drawn:
        session.nothing_to_paint()


def _mount() -> None:
    page = session.page()
    settings, report = effective_settings(page.settings), stage_report()
    unseen = page.settings.mode == "nodes" and not (report and report.candidates)
    trace = trace_of(settings, bare=not page.standing and (page.held or unseen))
    stage(
        trace,
        page.told,
        live_sharpness=settings.sharpness if settings.source == "synthetic" else None,
        max_budget=trace["curve_to"] if is_cut(settings, trace) else controls.largest_budget(settings),
        charts=not settings.hides("charts"),
        ask=None if page.standing or page.held else page.revision,
        on_report=take_report,
        on_painted=lambda: session.painted(painted_revision()),
        key="stage",
    )


def trace_of(settings: Settings, bare: bool) -> dict:
    """The trace of these settings; ``bare``: without what one does not see at first.

    Where a recording does not hold these policies' larger trees, it ends at the largest tier that it holds, the chosen budget's at
    least. Raises ``NotRecordedError`` where not even that is recorded.
    """
    key, sides, (tier, budget, most) = world.LandscapeKey.of(settings), world.sides(settings), world.trace_size(settings, bare)
    smaller = [size for size in reversed(TIERS) if tier_of(settings.budget) <= size < most and key.source == "recording"]
    for size, curve_to in dict.fromkeys([(tier, most), *zip(smaller, smaller, strict=True)]):
        try:
            return world.trace(key, *sides, size, budget, curve_to, full=not bare)
        except NotRecordedError as error:
            missing = error
    raise missing


def is_cut(settings: Settings, trace: dict) -> bool:
    """Whether a trace ends earlier than these settings ask, because no more is recorded."""
    return trace["curve_to"] < world.most_budget(settings)


def take_report() -> None:
    """Take over what the stage reports (callback). A report sent before it heard of the last command would undo that command."""
    now = stage_report()
    if now.told != session.page().told.revision:
        return session.act({}, Origin.STAGE, held=now.dragging)
    changes = {"budget": now.budget, "step": ALL_STEPS if now.step >= now.budget else now.step, "mode": now.mode}
    if now.sharpness is not None:
        changes["sharpness"] = PROPERTIES["sharpness"].clamp(now.sharpness)
    session.act(changes, Origin.STAGE, held=now.dragging)
