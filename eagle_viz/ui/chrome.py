"""What frames every view: style sheet, header with its tabs, sentences about the URL, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from ..core.landscape import NotRecordedError
from ..core.tree import sendable
from ..view import palette
from . import session
from .settings import VIEWS, Settings

STYLE = Path(__file__).with_name("page.css")
CHART_COLOURS = ("blue", "gray", "ink")
"""Colours of the palette that the charts draw with, in the light theme; the style sheet maps them to the theme that is on."""
TAGLINE = "Every guessed token must be checked. Which guesses are worth it?"


def chart(figure: go.Figure, key: str, alt: str) -> None:
    """A Plotly chart in the page's own look, without Plotly's buttons; ``alt`` says what it shows."""
    st.plotly_chart(figure, theme=None, config={"displayModeBar": False, "scrollZoom": False}, key=key, alt=alt)


def style() -> None:
    """The page's style sheet: the palette, the colours of charts mapped to the theme, page.css."""
    own = f".stApp {{ {palette.colours_of_both()} {palette.sizes()} }}"
    st.html("<style>\n" + "\n".join([own, *_chart_rules(), STYLE.read_text(encoding="utf-8")]) + "\n</style>")


def _chart_rules() -> list[str]:
    """CSS that gives what a chart drew in a colour of the light theme the same colour of the theme that is on."""
    rules = []
    for name in CHART_COLOURS:
        red, green, blue = palette.channels(getattr(palette.LIGHT, name))
        drawn = f"rgb({red}, {green}, {blue})"
        rules += [
            f'.js-plotly-plot [style*="{part}: {drawn}"] {{ {part}: var(--{name}) !important; }}' for part in ("stroke", "fill")
        ]
    return rules


def header(settings: Settings) -> None:
    """Name, question, and the views as tabs."""
    if settings.hides("header"):
        return
    with st.container(key="header", horizontal=True, vertical_alignment="center"):
        st.html(f'<div class="brand"><h1>Draft tree lab</h1><p>{TAGLINE}</p></div>')
        st.segmented_control(
            "View", list(VIEWS), format_func=VIEWS.get, label_visibility="collapsed", required=True, **session.bind("view")
        )


def notes(settings: Settings) -> None:
    """Say what of the opened link could not be taken as it stood."""
    found = session.page().notes
    if found and not settings.hides("notes"):
        items = "".join(f"<li>{escape(note)}</li>" for note in found)
        st.html(f'<div class="notes" role="status" data-testid="url-notes"><b>About this link</b><ul>{items}</ul></div>')


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Whatever bad input raises inside becomes one sentence on the page; nothing else is lost."""
    try:
        yield
    except (ValueError, NotRecordedError) as error:
        say(str(error))


def say(sentence: str) -> None:
    """One sentence in a quiet box."""
    sentence = sendable(sentence).strip() or "This cannot be shown, and nothing says why."
    st.html(f'<div class="notes" role="status" data-testid="page-sentence">{escape(sentence)}</div>')


def refusal(name: str) -> None:
    """Below a field: why what was typed in it cannot be taken; nothing where it was taken."""
    refused = session.page().refused.get(name)
    if refused:
        say(f"{refused.why.rstrip('.')}. The picture stays as it was.")


def html(text: str) -> None:
    """`st.html` that shows nothing for an empty text; streamlit itself refuses one."""
    if text:
        st.html(text)


def remarks(sentences: Iterable[str], name: str = "") -> None:
    """Sentences beside a picture that a reader of its numbers must know; nothing where there is none."""
    html("".join(f'<p class="quiet" data-testid="{name}">{escape(sentence)}</p>' for sentence in sentences))


def card_title(title: str, aside: str = "") -> None:
    """The heading of a card, with a gray remark behind it."""
    st.html(f'<h2 class="card-title">{escape(title)} <span>{escape(aside)}</span></h2>')


def drawer(title: str, key: str, body: Callable[[], None], pulled: bool = False) -> None:
    """Something to open that is filled only while it is open (from the start if ``pulled``).

    Streamlit renders every element of the page again after each run, so that what nobody looks at slows down every drag.
    """
    box = st.expander(title, expanded=pulled, **session.own(key))
    if box.open:
        with box:
            body()
