"""What stands above the lab's stage: the idea in two sentences, or the note of the preset that was loaded; and real text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html import escape
from importlib.resources import files

import streamlit as st

from . import session, story, tour
from .presets import PRESETS, note, shown
from .settings import ALL_STEPS, Settings

TERMS = {
    "draft model": "A small, fast model that guesses several tokens ahead; also called the drafter.",
    "target model": "The large model whose text is wanted. It decides which guesses stay.",
    "pass": "One run of the target model: it checks all guessed tokens at once.",
    "confidences": "How probable the draft model holds a guess, given the guesses before it on the path.",
}
IDEA = (
    "A small {draft model} guesses a tree of tokens; the large {target model} checks the whole tree in one {pass} and keeps the "
    "path it agrees with. A node is worth the <b>product of the {confidences} on its path</b>, the chance that it is kept; all "
    "nodes together are the tokens to expect per pass."
)


def panel(settings: Settings) -> None:
    """The note where a preset was loaded, the idea and the real text otherwise; and the way into the tour."""
    with st.container(key="intro"):
        st.html(f'<h2 class="unseen">Two draft trees on one landscape</h2>{loaded(settings) or _idea()}')
        before_the_first = settings.step == 0
        if before_the_first:
            _real_text()
        with st.container(key="intro-links", horizontal=True, vertical_alignment="center"):
            if before_the_first:
                _play()(key="intro-play")
            else:
                _real_text()
            tour.invitation(settings)


def has_note(settings: Settings) -> bool:
    """Whether the note of a loaded preset stands above the stage."""
    return bool(settings.view in ("lab", "text") and settings.preset and shown(settings)) and not (
        settings.hides("intro") or settings.tour
    )


def loaded(settings: Settings) -> str:
    """The note of the preset that was loaded, as HTML; empty where there is none."""
    if not has_note(settings):
        return ""
    title = escape(PRESETS[shown(settings)].title)
    return f'<p class="intro" data-testid="loaded-preset"><b>{title}.</b> {escape(note(settings))}</p>'


def _idea() -> str:
    words = {term: f'<abbr title="{escape(said)}">{term}</abbr>' for term, said in TERMS.items()}
    idea = re.sub(r"{(.+?)}", lambda found: words[found[1]], IDEA)
    return f'<p class="intro" data-testid="intro">{idea}</p>'


@cache
def _play() -> Callable:
    """A button that presses the stage's own Play, which may stand below the fold."""
    here = files(__package__)
    read = {kind: (here / f"play.{kind}").read_text(encoding="utf-8") for kind in ("js", "css")}
    button = '<button type="button" data-testid="intro-play">▶ Play: watch both trees grow</button>'
    return st.components.v2.component("eagle_viz.play", html=button, **read)


def _real_text() -> None:
    """One line of real text, which opens that pass on the stage."""
    example = story.first_example()
    if example is not None:
        line = re.sub(r"([\\`*_{}\[\]<>()#+.!|~$:-])", r"\\\1", example.line)
        help_ = "Opens this text with both trees of this pass."
        st.button(f"{line} See it", key="see_real_text", type="tertiary", help=help_, on_click=_open, args=(example,))


def _open(example: story.Example) -> None:
    session.act(Settings(**example.changes, step=ALL_STEPS))
