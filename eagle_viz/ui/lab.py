"""The lab: two trees on one landscape, and what the budget buys."""

from __future__ import annotations

import streamlit as st

from ..core.landscape import NotRecordedError
from ..core.population import Population, affordable_seeds
from ..core.readout import comparison_remarks
from ..view import figures
from . import chrome, controls, intro, opened, session, share, stage_panel, world
from .page import CHARTS, SETTINGS
from .settings import PROPERTIES, Settings


def panel(settings: Settings) -> None:
    """Settings on the left, stage and charts on the right; the stage goes out first."""
    if settings.hides("settings"):
        _front(settings)
        _behind(settings)
        return
    with st.container(key="lab"):
        left, right = st.columns([1, 4.1], gap="medium")
        with right:
            _front(settings)
        with left, st.container(key="settings"):
            settings_panel()
        with right:
            _behind(settings)


def _front(settings: Settings) -> None:
    if not settings.hides("intro") and not settings.tour:
        intro.panel(settings)
    stage_panel.panel()


def _behind(settings: Settings) -> None:
    if not settings.hides("charts"):
        with st.container(key="behind"):
            behind()


def stage_and_readouts(settings: Settings) -> None:
    """The stage, and under it the second row of numbers with the two charts."""
    stage_panel.panel()
    _behind(settings)


@st.fragment(key=SETTINGS)
def settings_panel() -> None:
    """The column of the lab's settings."""
    controls.column(session.current())


@st.fragment(key=CHARTS)
def behind() -> None:
    """What stands below the stage. The page's first trees go before it; later ones go out before it."""
    page = session.page()
    if not page.painted:
        return
    settings = page.settings
    if settings.view == "lab":
        opened.panel(settings)
    _all_charts(settings)
    if settings.view == "lab":
        share.panel()


def _all_charts(settings: Settings) -> None:
    try:
        trace = stage_panel.trace_of(settings, bare=False)
    except (ValueError, NotRecordedError):
        return  # the stage says why
    with chrome.in_one_sentence():
        _remarks(settings, trace)
    if settings.view == "lab" and settings.source == "synthetic":
        with chrome.in_one_sentence():
            _population(settings)


def _remarks(settings: Settings, trace: dict) -> None:
    """What must be said of the trees on the stage and of the curves below it."""
    key, sides = world.LandscapeKey.of(settings), world.sides(settings)
    of_trees = comparison_remarks(*(world.draft(key, side, settings.budget) for side in sides))
    of_curves = drawn_to(key, sides, min(world.most_budget(settings), trace["curve_to"]))
    cut = f"This recording holds the trees of these policies up to {trace['curve_to']} nodes at these settings."
    of_curves += [cut] if stage_panel.is_cut(settings, trace) else []
    chrome.remarks(dict.fromkeys([*of_trees, *of_curves]), "remarks")


def drawn_to(key: world.LandscapeKey, sides: tuple[world.PolicyKey, ...], budget: int) -> list[str]:
    """What must be said of trees up to this budget (see ``Policy.remark``)."""
    drafts = [world.draft(key, side, budget) for side in sides]
    return [remark for draft in drafts if (remark := draft.policy.remark(draft))]


def split_of_gain(here: Population, top_k: int, max_depth: int) -> str:
    """What of EAGLE-2's gain comes from the context and what from a better fixed shape; the sentence follows the signs.

    Law: it never speaks of a gain where the number shown is 0 % or below, and it names what makes EAGLE-2 lose.
    """
    over_shape, over_eagle1 = round(100 * here.gain_over_static), round(100 * here.gain_over_eagle1)
    if over_shape < 0 and here.static_levels > max_depth:
        return (
            f"Adapting to the context does not make up for depth here ({over_shape:+d} % against the best fixed shape): EAGLE-2 "
            f"may go {max_depth} levels deep, the fixed shape goes {here.static_levels}. Raise max_depth."
        )
    if over_shape < 0:
        return (
            f"Adapting to the context does not pay here ({over_shape:+d} % against the best fixed shape): EAGLE-2 expands only "
            f"{top_k} nodes a level, so it loses nodes that the fixed shape has. Raise top_k."
        )
    if over_shape == 0:
        return "Adapting to the context changes nothing here: the best fixed shape expects as many tokens."
    if over_eagle1 <= over_shape:
        return f"{over_shape:+d} % comes from adapting to the context; a better fixed shape alone adds nothing."
    return (
        f"{over_shape:+d} % comes from adapting to the context; the rest of the {over_eagle1:+d} % comes from a better fixed shape."
    )


def _population(settings: Settings) -> None:
    args = (settings.budget, settings.branching, settings.coverage, settings.top_k, settings.max_depth)
    rows, here = world.gains(*args), world.gain_here(settings.sharpness, *args)
    with st.container(key="card-population", border=True):
        seeds = len(affordable_seeds(settings.budget, settings.branching, settings.top_k, settings.max_depth))
        usual = all(getattr(settings, side) == PROPERTIES[side].default for side in ("static", "dynamic"))
        which = "EAGLE-2 against EAGLE-1" if usual else "always EAGLE-2 against EAGLE-1, whatever is chosen above"
        chrome.card_title("Not just this seed", f"{which}; mean over {seeds} seeds, budget {settings.budget}")
        text, chart = st.columns([1, 1.9], gap="medium")
        text.html(
            f'<p class="claim" data-testid="population">At sharpness {settings.sharpness:g} EAGLE-2 gets '
            f"<b>{here.eagle2:.2f}</b> expected tokens a pass, EAGLE-1's shape <b>{here.eagle1:.2f}</b> "
            f"({here.gain_over_eagle1:+.0%}), the best shape that never looks at the context {here.best_static:.2f} "
            f"({here.gain_over_static:+.0%}).</p><p>{split_of_gain(here, settings.top_k, settings.max_depth)}</p>"
        )
        with text:
            chrome.remarks(drawn_to(world.LandscapeKey.of(settings), (world.PolicyKey("eagle1"),), settings.budget))
        with chart:
            chrome.chart(
                figures.gain_against_sharpness(rows, here),
                key="population",
                alt="Mean gain of EAGLE-2 in percent against sharpness",
            )
