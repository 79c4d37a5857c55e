"""Which parts of the page run again.

A change in the lab runs the stage and the settings column, no more; the charts follow when the browser says that the stage is on
screen, so that they never keep it waiting. Whatever stands outside these parts makes the whole page run again.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ..stage import drawn_token
from . import session
from .settings import ALL_STEPS, Settings, scene

STAGE, SETTINGS, CHARTS = "stage", "settings", "charts"
"""Keys of the fragments."""
NO_BROWSER = "no_browser"
"""In the session state of a page that nobody draws (a test): the charts wait for nothing."""
_PRESENT, _FRAME, _SHOWN, _CHARTED, _FAILED = "parts", "frame", "shown", "charted", "failed"
_FINISHED = "finished"


def begin(settings: Settings) -> None:
    """Note what a run of the whole page shows outside the parts."""
    st.session_state[_FRAME] = _frame(settings)
    st.session_state[_PRESENT] = set()
    if _followed() != session.current():
        session.ask_again()


def present(part: str) -> None:
    """A part is on this page."""
    st.session_state[_PRESENT].add(part)


def _frame(settings: Settings) -> tuple[object, ...]:
    """What decides what stands outside the parts; which recording is read is settled there too."""
    return settings.view, settings.tour, settings.hide, settings.source, settings.recording, settings.preset, tuple(session.notes())


def refresh() -> None:
    """Run again what a change of the settings touches (the last act of a callback)."""
    now, parts = session.current(), st.session_state[_PRESENT]
    if now.view != "lab" or STAGE not in parts or st.session_state.get(NO_BROWSER) or _frame(now) != st.session_state[_FRAME]:
        st.rerun()
    _run(STAGE, SETTINGS)


def bind(name: str, also: Callable[[object], dict[str, object]] | None = None) -> dict[str, object]:
    """``session.bind`` for a widget that stands inside a part."""
    bound = session.bind(name, also)

    def moved() -> None:
        bound["on_change"]()
        refresh()

    return bound | {"on_change": moved}


def _drawn(settings: Settings) -> Settings:
    """The settings that anything outside the stage depends on."""
    return settings.but(step=ALL_STEPS, mode="nodes")


def charted() -> Settings | None:
    """The settings that the charts show: those of the trees on screen, None before there are any."""
    return session.current() if failed() else _followed()


def _followed() -> Settings | None:
    now, then = session.current(), st.session_state.get(_CHARTED)
    if st.session_state.get(NO_BROWSER) or then == _drawn(now):
        return now
    return then if then is not None and _place(then) == _place(now) else None


def _place(settings: Settings) -> tuple[str, str]:
    return settings.view, scene(settings).source


def token() -> str | None:
    """What the browser has to say before all else follows, None where it has said so of these settings.

    Asked when there are trees again, whether or not there were none for these settings before.
    """
    return session.serial() if _followed() != session.current() else None


def follow() -> None:
    """The trees are on screen (callback): now the rest of the stage and the charts, unless the settings have moved on, for which
    another word will come.
    """
    session.heed()
    if drawn_token(STAGE) == session.serial():
        st.session_state[_CHARTED] = _drawn(session.current())
        _run(STAGE, CHARTS)


def _run(*parts: str) -> None:
    """Run these parts again, those of them that are on the page (the last act of a callback)."""
    st.rerun([part for part in dict.fromkeys(parts) if part in st.session_state[_PRESENT]])


def charts_drawn(settings: Settings) -> None:
    """The charts stand, to the last of them."""
    st.session_state[_FINISHED] = _drawn(settings)


def make_up(part: str) -> None:
    """Something was done in ``part`` that changes no setting (the last act of a callback): it has stopped charts that were being
    drawn, so they are begun again.
    """
    if st.session_state.get(_CHARTED) == _drawn(session.current()) != st.session_state.get(_FINISHED):
        _run(part, CHARTS)


def shown(stood: bool) -> None:
    """The stage has been sent, or ``stood`` is false: then nothing will be drawn, and the charts must not wait."""
    now = st.session_state[_SHOWN] = _drawn(session.current())
    known = stood or st.session_state.get(_FAILED) == now
    st.session_state[_FAILED] = None if stood else now
    if not stood:
        st.session_state[_CHARTED] = None  # they are taken down, and have to be told when the old trees come back
    if not known:
        st.rerun()


def moved() -> bool:
    """Whether the stage has reported something that other parts have to show."""
    return _drawn(session.current()) != st.session_state[_SHOWN]


def failed() -> bool:
    """Whether there are no trees for these settings."""
    return st.session_state.get(_FAILED) == _drawn(session.current())


def _pulled(part: str | None) -> None:
    session.heed()
    if part is not None:
        make_up(part)


def drawer(title: str, key: str, body: Callable[[], None], pulled: bool = False, part: str | None = None) -> None:
    """Something to open that is filled only while it is open (from the start if ``pulled``); ``part``: where it stands.

    Streamlit renders every element of the page again after each run, so that what nobody looks at slows down every drag.
    """
    box = st.expander(title, expanded=pulled, key=key, on_change=lambda: _pulled(part))
    if box.open:
        with box:
            body()
