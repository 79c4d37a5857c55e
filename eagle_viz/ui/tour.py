"""A walk through the mission in a few stops; each sets the real controls and says what to look at. Left any time, resumed later."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files

import streamlit as st

from . import session
from .settings import Settings
from .stops import STOPS, settings_at

MINUTES = "five minutes"
"""About 50 words and something to do at each stop."""


def go(stop: int) -> None:
    """Move to a stop, 0 to leave (callback)."""
    if stop == 0:
        session.act({"tour": 0}, left_at=session.current().tour)
    else:
        session.act(settings_at(stop))


def invitation(settings: Settings) -> None:
    """The button that starts the tour, or takes it up where it was left."""
    left_at = session.page().left_at
    label = f"Resume the tour ({left_at} of {len(STOPS)})" if left_at else f"Take the tour: {len(STOPS)} stops, {MINUTES}"
    if settings.tour == 0:
        st.button(label, key="tour_start", type="tertiary", on_click=go, args=(left_at or 1,))


def panel(settings: Settings) -> None:
    """The stop one is at, with back, next and leave; once left, the way back to it (the lab has that beside its introduction)."""
    stop = min(settings.tour, len(STOPS))
    if stop == 0:
        if settings.view != "lab" and session.page().left_at:
            invitation(settings)
        return
    with st.container(key="tour", horizontal=True, vertical_alignment="center"):
        here = STOPS[stop - 1]
        title = f"<h2>{here.title} <small>Stop {stop} of {len(STOPS)}</small></h2>"
        st.html(f'<div data-testid="tour-stop">{title}<p>{here.text} {here.told()}</p></div>')
        with st.container(key="tour-buttons", horizontal=True, vertical_alignment="center", width="content"):
            _buttons(stop)
        _into_sight()(data={"stop": stop}, key="tour-sight")


def _buttons(stop: int) -> None:
    first = "This is the first stop." if stop == 1 else None
    st.button("Back", key="tour_back", disabled=stop == 1, help=first, on_click=go, args=(stop - 1,))
    last = stop == len(STOPS)
    st.button(
        "Finish" if last else "Next stop",
        key="tour_next",
        type="primary",
        on_click=finish if last else go,
        args=() if last else (stop + 1,),
    )
    end = "This is the last stop: Finish ends the tour." if last else None
    st.button("Leave", key="tour_leave", type="tertiary", disabled=last, help=end, on_click=go, args=(0,))


@cache
def _into_sight() -> Callable:
    script = (files(__package__) / "tour.js").read_text(encoding="utf-8")
    return st.components.v2.component("eagle_viz.tour", html="<i></i>", js=script)


def finish() -> None:
    """End the tour; the next one starts at the beginning (callback)."""
    session.act({"tour": 0}, left_at=0)
