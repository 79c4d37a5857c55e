"""The settings column: source, landscape, policies, presets."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from html import escape

import streamlit as st

from ..core.policies import POLICIES, read_choices
from ..core.policies.fixed_order import EXAMPLE
from ..core.readout import coverage_sentence
from . import chrome, intro, library, session, world
from .presets import PRESETS, changes_by_name, note, shown
from .settings import PROPERTIES, SOURCES, USUAL_BUDGET, Settings, base_of, effective_settings, offered_parameters, quote


def column(settings: Settings) -> None:
    """The whole column for the lab."""
    with chrome.in_one_sentence():
        _source(settings)
    if settings.source != "file":
        _policies()
        chrome.drawer("More settings", "more", lambda: _more(settings))
    try_this(settings)


def _source(settings: Settings) -> None:
    st.segmented_control(
        "Source",
        [name for name in SOURCES if name != "file" or settings.source == "file"],
        format_func=SOURCES.get,
        label_visibility="collapsed",
        required=True,
        width="stretch",
        **session.bind("source"),
    )
    {"synthetic": _synthetic, "levels": _levels, "recording": _recording, "file": lambda _: None}[settings.source](settings)


def _slider(name: str, label: str, step: float, **more: object) -> None:
    row = PROPERTIES[name]
    low, high = (row.kind(row.low), row.kind(row.high))
    st.slider(label, low, high, step=row.kind(step), **more, **session.bind(name))


def _synthetic(settings: Settings) -> None:
    _slider(
        "sharpness", "Sharpness", 0.05, format="%.2f", help="How unequal a node's candidates are: 0.1 open-ended, 4 predictable."
    )
    st.html('<div class="ends"><span>open-ended</span><span>predictable</span></div>')
    with st.container(key="seed-row", horizontal=True, vertical_alignment="bottom"):
        row = PROPERTIES["seed"]
        st.number_input(
            "Seed",
            int(row.low),
            int(row.high),
            step=1,
            help="The same seed draws the same landscape on any machine.",
            **session.bind("seed"),
        )
        st.button("Redraw", key="redraw", on_click=redraw, help="Another seed")
    _slider("branching", "Candidates per node", 1, help="How many guesses the draft model offers for each next token.")
    _slider("coverage", "Coverage", 0.05, help="Chance that the true next token is among a node's candidates.")
    st.html(f'<p class="quiet" data-testid="coverage">{coverage_sentence(settings.coverage)}</p>')


def redraw() -> None:
    """Another landscape of the same kind (callback)."""
    session.act({"seed": secrets.randbelow(10**6)})


def _levels(settings: Settings) -> None:
    st.text_area(
        "Confidences by rank",
        height=110,
        max_chars=PROPERTIES["levels"].length,
        help="Most probable first; a slash starts the next level; the last serves all deeper ones. Example: 0.9 0.05 / 0.8 0.1",
        **session.typed("levels", world.parse_levels),
    )
    chrome.refusal("levels")


def recording_column(settings: Settings, position: bool = True) -> None:
    """The column of the views on recorded text; ``position``: whether one context of it is looked at."""
    with chrome.in_one_sentence():
        _recording(settings, position)
    _policies()
    chrome.drawer("More settings", "more", lambda: _more(effective_settings(settings)))


def recorded_view(
    settings: Settings, body: Callable[[], None], position: bool = True, more: Callable[[], None] = lambda: None
) -> None:
    """The frame of a view on recorded text: its column (``more`` below it) on the left and ``body`` on the right; one sentence
    where nothing is recorded.
    """
    if not library.recordings():
        chrome.say("There is no recording in models/recordings yet, so there is nothing measured to show here.")
        return
    with st.container(key="lab"):
        left, right = st.columns([1, 4.1], gap="medium")
        with left, st.container(key="settings"):
            recording_column(settings, position)
            more()
        with right, chrome.in_one_sentence():
            body()


def _recording(settings: Settings, position: bool = True) -> None:
    names = library.recordings()
    if not names:
        st.html('<p class="quiet">No recording is shipped in models/recordings yet.</p>')
        return
    titles = library.titles(names)
    bound = session.bind("recording", also=lambda _: {"position": 0})
    st.selectbox("Recorded text", names, format_func=titles.get, help=library.UPPER_BOUND, **bound)
    if not position:
        return
    last = len(library.read_recording(session.current().recording).cycles) - 1
    if last:
        st.slider("Position in the text", 0, last, **session.bind("position"))
    _words_before()


def resolve_recording(settings: Settings) -> Settings:
    """Settings whose recording and position exist, wherever recorded text is shown; what had to be changed is said."""
    names = library.recordings()
    if effective_settings(settings).source != "recording" or not names:
        return settings
    notes, changes = [], {}
    if settings.budget > USUAL_BUDGET:
        notes.append(f"budget: {settings.budget} given, a recording holds 1 to {USUAL_BUDGET}; {USUAL_BUDGET} is used.")
        changes |= {"budget": USUAL_BUDGET, "step": min(settings.step, USUAL_BUDGET)}
    name, position = settings.recording, settings.position
    if name not in names:
        alike = [known for known in names if known.endswith(f"-{name}")]
        if name and alike:
            names = alike
        elif name:
            notes.append(f"recording: {quote(name)} given, allowed is one of {', '.join(names)}; {names[0]} is used.")
        name = names[0]
    try:
        last = len(library.read_recording(name).cycles) - 1
    except ValueError:
        last = position  # the view that reads it says what is wrong with it
    if position > last:
        notes.append(f"position: {position} given, allowed is 0 to {last} in {name}; {last} is used.")
    return session.amend(*notes, **changes, recording=name, position=min(position, last))


def _words_before() -> None:
    """The end of the text before the root, and the root."""
    now = session.current()
    with chrome.in_one_sentence():
        text = library.read_recording(now.recording)
        words, root = text.words_before(now.position)[-160:], text.root_text(now.position)
        st.html(f'<p class="words" data-testid="words-before">…{escape(words)}<b>{escape(root)}</b></p>')


def _policies() -> None:
    titles = {name: policy.title for name, policy in POLICIES.items()}
    for side, colour in (("static", "Gray"), ("dynamic", "Blue")):
        help_ = f"The policy that decides which guesses the {colour.lower()} tree keeps."
        st.selectbox(f"{colour} tree", list(titles), format_func=titles.get, help=help_, **session.bind(side))
        if side == "static" and session.current().shape.strip():
            st.html('<p class="quiet">Your own shape is drawn in its place; empty it under More settings.</p>')


def _more(settings: Settings) -> None:
    shown = (
        POLICIES[settings.static],
        POLICIES[settings.dynamic],
        POLICIES[str(PROPERTIES["dynamic"].default)],
    )  # charts show the last
    for name, parameter in offered_parameters().items():
        if any(parameter in policy.parameters for policy in shown):
            _slider(name, parameter.label, parameter.step, help=f"{parameter.help[0].upper()}{parameter.help[1:]}.")
    st.text_area(
        "Own shape for the gray tree",
        height=70,
        max_chars=PROPERTIES["shape"].length,
        placeholder=EXAMPLE,
        help="A node list as EAGLE's and Medusa's choices are written: child ranks from the root, 0 the most confident.",
        **session.typed("shape", lambda text: read_choices(text) if text.strip() else None),
    )
    chrome.refusal("shape")
    if settings.source != "recording":
        st.toggle("Budgets up to 512", **session.widget("large", session.page().large, bool, _size))


def _size(large: bool) -> None:
    """Budgets up to 512 or not (callback); what does not fit any more shrinks."""
    now = session.current()
    shrunk = {"budget": USUAL_BUDGET, "step": min(now.step, USUAL_BUDGET)}
    session.act({} if large or now.budget <= USUAL_BUDGET else shrunk, large=large)


def largest_budget(settings: Settings) -> int:
    """How far the stage's budget goes: a recording holds 128 nodes, the rest 512 where that is wanted."""
    large = settings.source != "recording" and session.page().large
    return int(PROPERTIES["budget"].high) if large else USUAL_BUDGET


def try_this(settings: Settings) -> None:
    """The presets as buttons, and the sentence of the one that is on."""
    with st.container(key="try-this"):
        st.html("<b>Try this</b>")
        _buttons(settings, first=True)
        chrome.drawer("More to try", "more_to_try", lambda: _buttons(settings, first=False))
        if shown(settings) and not intro.has_note(settings):  # below the buttons, so that none moves under the pointer
            st.html(f'<p class="sentence" data-testid="preset-sentence">{note(settings)}</p>')


def _buttons(settings: Settings, first: bool) -> None:
    with st.container(horizontal=True, gap="small"):
        for name, preset in PRESETS.items():
            if preset.first == first:
                kind = "primary" if name == shown(settings) else "secondary"
                st.button(preset.title, key=f"preset_{name}", type=kind, on_click=choose, args=(name,))


def choose(name: str) -> None:
    """Start from a preset (callback)."""
    session.act(base_of(name, changes_by_name()))
