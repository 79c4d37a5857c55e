"""The lab: two trees on one landscape, and what the budget buys."""

from __future__ import annotations

import streamlit as st

from ..core.population import Population, affordable_seeds
from ..core.readout import comparison_remarks
from ..stage import stage, stage_state, was_heard
from ..stage.trace import tier_of
from ..view import figures
from . import chrome, controls, intro, opened, parts, session, share, world
from .settings import ALL_STEPS, PROPERTIES, Settings, scene

CHART = {"displayModeBar": False, "scrollZoom": False}


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
    _stage(settings)


def _stage(settings: Settings) -> None:
    """The stage, told beforehand whether charts wait for it."""
    if not settings.hides("charts"):
        parts.present(parts.CHARTS)
    stage_panel()


def _behind(settings: Settings) -> None:
    if not settings.hides("charts"):
        with st.container(key="behind"):
            behind()


def stage_and_readouts(settings: Settings) -> None:
    """The stage, and under it the second row of numbers with the two charts."""
    _stage(settings)
    _behind(settings)


@st.fragment(key=parts.SETTINGS)
def settings_panel() -> None:
    """The column of the lab's settings."""
    parts.present(parts.SETTINGS)
    controls.column(session.current())


@st.fragment(key=parts.STAGE)
def stage_panel() -> None:
    """The stage. Runs alone while one steps or holds its sharpness.

    New trees come without what one does not see at first (candidates, further tiers, rolls), which takes longer than they do; that
    follows when they are drawn, with the charts.
    """
    parts.present(parts.STAGE)
    settings = scene(session.current())
    held = stage_state("stage")
    dragging = held is not None and held.dragging
    stood = False
    with chrome.in_one_sentence():
        static, dynamic = world.sides(settings)
        token = None if dragging else parts.token()
        bare = dragging or (token is not None and settings.mode == "nodes" and not (held and held.candidates))
        most = world.most_budget(settings)
        tier = tier_of(settings.budget if bare else most)
        drawn = world.trace(world.World.of(settings), static, dynamic, tier, settings.budget, most, full=not bare)
        stage(
            drawn,
            budget=settings.budget,
            step=settings.budget if settings.step == ALL_STEPS else settings.step,
            mode=settings.mode,
            live_sharpness=settings.sharpness if settings.source == "synthetic" else None,
            max_budget=controls.largest_budget(settings),
            follow=session.follow(),
            acknowledge=token,
            charts=not settings.hides("charts"),
            on_change=remember,
            on_drawn=parts.follow,
            key="stage",
        )
        stood = True
    if dragging:
        return  # the link waits until the hand lets go
    session.finish()
    parts.shown(stood)


@st.fragment(key=parts.CHARTS)
def behind() -> None:
    """What stands below the stage, drawn after it."""
    settings = parts.charted()
    if settings is None:
        return
    if settings.view == "lab":
        opened.panel(settings)
    _all_charts(settings)
    parts.charts_drawn(settings)
    if settings.view == "lab":
        share.panel()


def _all_charts(settings: Settings) -> None:
    if parts.failed():
        return
    with chrome.in_one_sentence():
        _remarks(settings)
    if settings.view == "lab" and settings.source == "synthetic":
        with chrome.in_one_sentence():
            _population(settings)


def remember() -> None:
    """Take over what the stage reports (callback)."""
    if not was_heard("stage"):
        return
    now = stage_state("stage")
    changes = {"budget": now.budget, "step": ALL_STEPS if now.step >= now.budget else now.step, "mode": now.mode}
    if now.sharpness is not None:
        changes["sharpness"] = PROPERTIES["sharpness"].clamp(now.sharpness)
    session.change(**changes)
    if now.dragging:
        return
    if parts.moved():
        parts.refresh()
    parts.make_up(parts.STAGE)


def _remarks(settings: Settings) -> None:
    """What must be said of the trees on the stage and of the curves below it."""
    key, sides = world.World.of(settings), world.sides(settings)
    of_trees = comparison_remarks(*(world.draft(key, side, settings.budget) for side in sides))
    of_curves = drawn_to(key, sides, world.most_budget(settings))
    chrome.remarks(dict.fromkeys([*of_trees, *of_curves]), "remarks")


def drawn_to(key: world.World, sides: tuple[world.PolicyKey, ...], budget: int) -> list[str]:
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
        chrome.card_title("Not just this seed", f"EAGLE-2 against EAGLE-1, mean over {seeds} seeds, budget {settings.budget}")
        text, chart = st.columns([1, 1.9], gap="medium")
        text.html(
            f'<p class="claim" data-testid="population">At sharpness {settings.sharpness:g} EAGLE-2 gets '
            f"<b class='dynamic'>{here.eagle2:.2f}</b> tokens a pass, EAGLE-1's shape <b class='static'>{here.eagle1:.2f}</b> "
            f"({here.gain_over_eagle1:+.0%}), the best shape that never looks at the context {here.best_static:.2f} "
            f"({here.gain_over_static:+.0%}).</p><p>{split_of_gain(here, settings.top_k, settings.max_depth)}</p>"
        )
        with text:
            chrome.remarks(drawn_to(world.World.of(settings), (world.PolicyKey("eagle1"),), settings.budget))
        with chart:
            st.plotly_chart(
                figures.gain_against_sharpness(rows, here),
                theme=None,
                config=CHART,
                key="population",
                alt="Mean gain of EAGLE-2 in percent against sharpness",
            )
