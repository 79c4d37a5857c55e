"""Every setting simulated on recorded texts, a text at a time and cached; nothing handed out here may be changed."""

from __future__ import annotations

import streamlit as st

from ..core.simulation import Outcome, Tally, outcomes, tally, whole
from . import library


@st.cache_resource(max_entries=64, show_spinner=False)
def _of_text(name: str) -> dict[str, Tally]:
    found = library.read_recording(name)
    return tally((found.kind, cycle) for cycle in found.cycles)


@st.cache_resource(max_entries=16, show_spinner=False)
def _joined(names: tuple[str, ...]) -> tuple[Tally, tuple[Outcome, ...]]:
    kinds: dict[str, Tally] = {}
    for name in names:
        for kind, one in _of_text(name).items():
            kinds[kind] = kinds[kind] + one if kind in kinds else one
    return whole(kinds), outcomes(kinds)


def every_setting(names: tuple[str, ...]) -> tuple[Tally, tuple[Outcome, ...]]:
    """All settings on all contexts of these recordings; the first time a bar says how many texts are done.

    A text that is done stays done when the page is moved on meanwhile. Raises ``NotRecordedError`` where a recording holds less.
    """
    bar = st.empty()
    for done, name in enumerate(names):
        bar.progress(done / len(names), f"Simulating every setting: text {done + 1} of {len(names)} …")
        _of_text(name)
    bar.empty()
    return _joined(names)
