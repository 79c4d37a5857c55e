"""Real text: a recorded answer with its passes, the trees of the chosen pass, and what they got on the whole text."""

from __future__ import annotations

from html import escape

import streamlit as st

from ..core.recording import Recording
from ..core.replay import lead_sentence, spread_sentence, tau, unequal_sentence
from . import chrome, controls, intro, lab, library, live_panel, replays, session, world
from .reader import reader, reader_data
from .settings import ALL_STEPS, Settings
from .verdicts import verdict_sentence

LEGEND = (
    '<p class="legend"><span><span class="accepted">drafted and accepted</span></span>'
    '<span><span class="bonus">bonus</span> the target\'s own token that ends a pass</span>'
    "<span>gray: outside the recorded passes</span>"
    "<span><b class='dynamic'><sup>6</sup></b> a pass of six tokens or more</span>"
    "<span>Click a pass, or press Enter on it, to see its trees.</span></p>"
)


def panel(settings: Settings) -> None:
    """Recording on the left, its answer and the stage on the right."""
    if not library.recordings():
        chrome.say(
            "There is no recording in models/recordings yet: make one with `python -m eagle_viz record`, or use the synthetic lab."
        )
        return
    with st.container(key="lab"):
        left, right = st.columns([1, 4.1], gap="medium")
        with left, st.container(key="settings"):
            controls.recording_column(settings)
            live_panel.controls()
            controls.try_this(session.current())
        with right, chrome.in_one_sentence():
            chrome.html(intro.loaded(settings))
            live_panel.progress()
            settings = session.current()
            recording = library.read_recording(settings.recording)
            _answer(recording, settings)
            lab.stage_and_readouts(settings)


def _answer(recording: Recording, settings: Settings) -> None:
    with st.container(key="card-answer", border=True):
        by = f"drafted by {library.drafted_by(recording)}, verified by {recording.target}"
        chrome.card_title(library.described(recording), by)
        st.html(f'<p class="prompt">{escape(recording.prompt)}</p>{LEGEND}')
        passes = [replays.passes(settings.recording, side, settings.budget) for side in world.sides(settings)]
        names = tuple(side.title for side in world.sides(settings))
        reader(reader_data(recording, *passes, settings.position, names), choose, show)
        st.html(_tau_line(settings, passes) + _why(recording, settings))


def choose(cycle: int) -> None:
    """A pass of the text was chosen (callback)."""
    session.act(session.current().but(position=cycle, step=ALL_STEPS))


def show(cycle: int) -> None:
    """The trees of a pass were asked for (callback): they scroll into sight."""
    session.act(session.current().but(position=cycle, step=ALL_STEPS), in_sight=True)


def _why(recording: Recording, settings: Settings) -> str:
    """Both trees' verdicts in the chosen pass."""
    key = world.LandscapeKey.of(settings)
    lines = []
    for css, side in zip(("static", "dynamic"), world.sides(settings), strict=True):
        said = verdict_sentence(recording, settings.position, world.draft(key, side, settings.budget).tree)
        lines.append(f"<p class='verdict' data-testid='verdict-{css}'><b class='{css}'>{side.title}:</b> {escape(said)}</p>")
    return f"<p class='verdict'><b>The pass at position {settings.position}</b></p>{''.join(lines)}"


def _tau_line(settings: Settings, passes: list) -> str:
    taus, oracle, cells = [tau(found) for found in passes], library.is_oracle(settings.recording), []
    for css, side, (expected, measured) in zip(("static", "dynamic"), world.sides(settings), taus, strict=True):
        number = (expected, "expected at temperature 1") if oracle else (measured, f"measured, {expected:.2f} expected")
        cells.append(_cell(css, side.title, *number))
    gap = "" if oracle else library.gap_sentence(settings.recording, taus)
    counted = f"{len(passes[0])} passes of this text replayed at budget {settings.budget}, bonus counted."
    note = f"<div><small>{counted} {unequal_sentence(*passes)}</small></div>"
    titles = tuple(side.title for side in world.sides(settings))
    lead = "" if oracle else f"{lead_sentence(titles, *passes)} "
    spread = f'<p class="quiet" data-testid="spread">{escape(lead + spread_sentence(titles[1], passes[1]))}</p>'
    return f'<div class="readouts three">{"".join(cells)}{note}</div>{spread}<p class="quiet" data-testid="greedy-gap">{gap}</p>'


def _cell(css: str, title: str, number: float, remark: str) -> str:
    return (
        f"<div data-testid='tau-{css}'><strong>{title}: tokens a pass (tau)</strong><p><b class='{css}'>{number:.2f}</b> "
        f"<i>{remark}</i></p></div>"
    )
