"""How sure a drafter is, and what a dynamic tree gains: recorded texts, whole drafters and synthetic landscapes in one picture."""

from __future__ import annotations

from html import escape

import streamlit as st

from ..core.measured import DRAFTERS, Measured, read_measured
from ..core.population import affordable_seeds
from ..core.sureness import Sureness, measured_sureness, synthetic_sureness
from ..view import figures
from . import chrome, library, replays, world
from .settings import Settings

STATIC, DYNAMIC = "eagle1:25", "eagle2:25"
"""The policies of the tables that are compared."""


def card(settings: Settings) -> None:
    """Every recorded text as a dot, every measured drafter as a square: how sure it is, and what the dynamic side gains there."""
    first, second = world.sides(settings)
    chrome.card_title(
        "How sure the drafter is, and the gain", f"{second.title} over {first.title} in expected tokens, budget {settings.budget}"
    )
    with st.spinner("Replaying both policies on every recorded text …"):
        groups = {drafter: replays.surenesses(names, (first, second), settings.budget) for drafter, names in library.by_drafter()}
    found = tables()
    chrome.chart(
        figures.gain_against_sureness(groups, _synthetic(settings), [measured_sureness(one, STATIC, DYNAMIC) for one in found]),
        key="sureness",
        alt="Gain against the mean confidence of the first candidate, a dot a recorded text, a square a whole drafter",
    )
    st.html(
        "<p class='quiet'>The policy is the same; what differs is how sure the drafter is. EAGLE-1's shape fits a drafter in "
        "the middle: where nothing is likely a wider tree is worth more, where the first guess is nearly certain one deep chain "
        "is, and only a dynamic tree can tell where that is. So the synthetic line falls and then rises, and whole drafters bend "
        "alike. Dots are whole texts of some twenty contexts, so single ones scatter.</p>" + _drafters(found)
    )


@st.cache_resource(show_spinner=False)
def tables() -> tuple[Measured, ...]:
    """The shipped tables of single drafters, the least sure one first."""
    return tuple(sorted((read_measured(path) for path in DRAFTERS.glob("*.json")), key=lambda one: one.top))


def _drafters(found: tuple[Measured, ...]) -> str:
    if not found:
        return ""
    one = found[0]
    caption = (
        "The same policies, other drafters: EAGLE-2 over EAGLE-1's shape at 25 nodes, "
        f"{escape(one.source)}, {one.prompts} prompts, answers of at most {one.max_new_tokens} tokens. "
        "Expected: sums of path products as the drafter gives them. Where the target drafts for itself its first choice is always "
        "accepted, in any tree that is deep enough: there only the expected gain says something."
    )
    head = "<tr><th>Drafter</th><th>First confidence</th><th>Expected gain</th><th>tau, EAGLE-1</th><th>tau, EAGLE-2</th></tr>"
    rows = "".join(map(_row, found))
    table = f"<table class='numbers' data-testid='drafters'><caption>{caption}</caption>{head}{rows}</table>"
    return f"<div class='wide'>{table}</div>"


def _row(one: Measured) -> str:
    gain = measured_sureness(one, STATIC, DYNAMIC).gain
    taus = (f"{one.standing(name).whole.tau:.2f}" for name in (STATIC, DYNAMIC))
    name = "the target itself" if one.drafter == "oracle" else one.drafter
    cells = (escape(name), f"{one.top:.2f}", f"{gain:+.1%}", *taus)
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _synthetic(settings: Settings) -> list[Sureness]:
    args = (settings.budget, settings.branching, settings.coverage, settings.top_k, settings.max_depth)
    seeds = len(affordable_seeds(settings.budget, settings.branching, settings.top_k, settings.max_depth))
    return synthetic_sureness(world.gains(*args), settings.branching, settings.coverage, seeds)
