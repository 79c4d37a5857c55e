"""The stage alone on a page, set up by its address: what tests/browser/test_stage*.py drive."""

import numpy as np
import streamlit as st

from eagle_viz import POLICIES, RecordedLandscape, SyntheticLandscape
from eagle_viz.core.landscape import Candidates
from eagle_viz.stage import stage, stage_state
from eagle_viz.stage.trace import build_trace, tier_of

st.set_page_config(layout="wide")
query, session = st.query_params, st.session_state
session.setdefault("budget", int(query.get("budget", 25)))
session.setdefault("step", int(query.get("step", session.budget)))
session.setdefault("mode", query.get("mode", "nodes"))
session.setdefault("sharpness", float(query.get("sharpness", 2.5)))
session.setdefault("dragging", False)
MOST = int(query.get("max", 128))


def remember():
    now = stage_state("stage")
    session.budget, session.step, session.mode, session.dragging = now.budget, now.step, now.mode, now.dragging
    if now.sharpness is not None:
        session.sharpness = now.sharpness


def preset():
    session.budget = session.step = 10


def policy(side, default):
    name = query.get(side, default)
    return POLICIES[name](max_depth=12) if name == "eagle2" else POLICIES[name]()


WORDS = "the of and a to in is that it was for on are with as at be this have from or one had by but what we can\n out".split(" ")


class Wordy(SyntheticLandscape):
    """A synthetic landscape whose nodes read as words, most with the space before them, as a real tokenizer's do."""

    def _expand(self, paths):
        plain = super()._expand(paths)
        tokens = [np.arange(self.branching) + 7 * sum(path) + 3 * len(path) for path in paths]
        return [Candidates(token % len(WORDS), row.confidences) for token, row in zip(tokens, plain, strict=True)]

    def token_text(self, token):
        return " The" if token < 0 else (" " if token % 5 else "") + WORDS[token]


def spoken():
    """Two levels of hostile and invisible tokens."""
    texts = {4: " said", 5: " the", 6: "\n", 7: "<img src=x onerror=alert(1)>", 8: " incomprehensibilities", 9: "<b>bold</b>"}
    empty = Candidates(np.array([], dtype=int), np.array([]))
    table = {
        (): Candidates(np.array([5, 6, 7]), np.array([0.6, 0.2, 0.1])),
        (0,): Candidates(np.array([8, 9]), np.array([0.5, 0.25])),
        (1,): Candidates(np.array([5]), np.array([0.75])),
    }
    leaves = {path: empty for path in ((2,), (0, 0), (0, 1), (1, 0))}
    return RecordedLandscape(table | leaves, root_token=4, texts=texts, average=((0.5, 0.2, 0.1),)), (5, 9, 6)


@st.cache_data
def trace_of(seed, sharpness, tier, full, static, dynamic, source):
    synthetic = (SyntheticLandscape(seed=seed, sharpness=sharpness), None)
    wordy = (Wordy(seed=seed, sharpness=sharpness, branching=8), None)
    landscape, continuation = spoken() if source == "real" else wordy if source == "words" else synthetic
    label = f"seed {seed}, sharpness {sharpness:g}"
    return build_trace(
        landscape, policy("static", static), policy("dynamic", dynamic),
        tier=tier, budget=session.budget, label=label, full=full, continuation=continuation,
    )  # fmt: skip


@st.fragment
def lab():
    live = session.sharpness if "live" in query else None
    small = session.dragging or "max_sweep" in query.to_dict().values() or MOST > 128
    tier = tier_of(session.budget) if small else 128
    source = next((name for name in ("real", "words") if name in query), "synthetic")
    names = query.get("static", "eagle1"), query.get("dynamic", "eagle2")
    trace = trace_of(int(query.get("seed", 11)), round(session.sharpness, 3), tier, not session.dragging, *names, source)
    now = stage(
        trace, budget=session.budget, step=session.step, mode=session.mode, live_sharpness=live,
        max_budget=MOST, on_change=remember, key="stage",
    )  # fmt: skip
    st.text(f"python sees budget {now.budget} step {now.step} mode {now.mode} serial {now.serial}")
    st.text_input("a field")
    st.button("preset", on_click=preset)


lab()
