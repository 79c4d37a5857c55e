"""The stage alone on a page, set up by its address: what tests/browser/test_stage*.py drive."""

import streamlit as st

from eagle_viz.stage import Command, stage, stage_report
from eagle_viz.stage.trace import tier_of
from tests.browser.stage_landscapes import trace_of

st.set_page_config(layout="wide")
query, session = st.query_params, st.session_state
session.setdefault("budget", int(query.get("budget", 25)))
session.setdefault("step", int(query.get("step", session.budget)))
session.setdefault("mode", query.get("mode", "nodes"))
session.setdefault("sharpness", float(query.get("sharpness", 2.5)))
session.setdefault("dragging", False)
MOST = int(query.get("max", 128))
session.setdefault("command", Command(1, session.budget, session.step, session.mode))


def remember():
    now = stage_report("stage")
    session.dragging = now.dragging
    if now.told != session.command.revision:
        return
    session.budget, session.step, session.mode = now.budget, now.step, now.mode
    if now.sharpness is not None:
        session.sharpness = now.sharpness


def preset():
    session.budget = session.step = 10
    session.command = Command(session.command.revision + 1, 10, 10, session.mode)


@st.cache_data
def cached_trace(**options):
    return trace_of(**options)


@st.fragment
def lab():
    live = session.sharpness if "live" in query else None
    small = session.dragging or "max_sweep" in query.to_dict().values() or MOST > 128
    tier = tier_of(session.budget) if small else 128
    source = next((name for name in ("real", "words") if name in query), "synthetic")
    names = {side: query[side] for side in ("static", "dynamic") if side in query}
    seed, sharpness = int(query.get("seed", 11)), round(session.sharpness, 3)
    trace = cached_trace(
        source=source, seed=seed, sharpness=sharpness, tier=tier, budget=session.budget, full=not session.dragging, **names
    )
    stage(
        trace, session.command, live_sharpness=live, max_budget=MOST, charts="charts" not in query, on_report=remember, key="stage"
    )  # fmt: skip
    st.text(f"python sees budget {session.budget} step {session.step} mode {session.mode}")
    st.text_input("a field")
    st.button("preset", on_click=preset)


lab()
