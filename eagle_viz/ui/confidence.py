"""Is confidence acceptance? Reliability, acceptance by depth and rank, the ladder and the paper's ablation, on recordings."""

from __future__ import annotations

from html import escape

import streamlit as st

from ..core import reliability
from ..core.ladder import Rung
from ..core.recording import MAX_DEPTH, TOP_K, Recording
from ..view import figures
from . import chrome, controls, lab, library, replays, session, world
from .settings import Settings

WORDS = (
    "EAGLE-2 prices a node with the drafter's confidence, before the large model has seen it. That only works if confidence means "
    "acceptance: of all tokens drafted with confidence 0.8, about 80 % should survive. Each dot is one fifteenth of the drafted "
    "tokens whose parent was accepted; on the pale diagonal, confidence and acceptance are the same."
)
ALL = "all"
LADDER_NOTE = {
    "chain": "no tree",
    "eagle1": "+ breadth",
    "best_static": "+ the best fixed shape",
    "eagle2": "+ a look at the context",
    "best_first": "+ no beam to lose nodes",
    "oracle": "+ the target's own probabilities",
}


def panel(settings: Settings) -> None:
    """Calibration of the chosen recording, or of all by the same drafter."""
    controls.recorded_view(settings, _show, position=False, more=_scope)


def _scope() -> None:
    st.toggle("All recordings of this drafter", key="all_recordings", value=True, on_change=session.heed)


def _show() -> None:
    settings, everything = session.current(), st.session_state["all_recordings"]
    st.html(f'<p class="intro">{WORDS}</p>')
    names = library.same_drafter(settings.recording) if everything else (settings.recording,)
    key = world.sides(settings)[1]
    with st.spinner(f"Reading {len(names)} recording{'s' * (len(names) > 1)} …"):
        seen = replays.observations(names, key, settings.budget)
    recording = library.read_recording(settings.recording)
    if recording.drafter == "oracle":
        chrome.say(
            "This drafter is the target itself: its confidence is the target's probability, so the error is 0 by construction."
        )
    with st.container(key="card-reliability", border=True):
        _reliability(seen, f"{key.title}, budget {settings.budget}, {len(names)} texts, drafted by {library.drafted_by(recording)}")
    with st.container(key="card-ladder", border=True):
        _ladder(names, settings, recording)


def _reliability(seen: reliability.Observations, aside: str) -> None:
    found = reliability.reliability(seen)
    chrome.card_title("Confidence against acceptance", aside)
    left, right = st.columns([1.2, 1], gap="medium")
    with left:
        alt = "Mean confidence against the share of drafted tokens that were accepted, with 95 % intervals"
        st.plotly_chart(figures.reliability(found), theme=None, config=lab.CHART, key="reliability", alt=alt)
    with right:
        st.html(
            f'<p class="claim" data-testid="ece">Calibration error <b class="dynamic">{found.ece:.3f}</b></p>'
            '<p class="quiet">Mean distance '
            f"of confidence from the target's own probability, {len(found.bins)} bins of equal count; against what was accepted "
            f"in these texts {found.ece_accepted:.3f}. {found.count} drafted tokens whose parent was accepted; bars are 95 % "
            "intervals. These texts were decoded greedily, so only the top token can be accepted: unlikely guesses are accepted "
            "less often than their probability, and likely ones more often.</p>"
        )
        for name, groups, keys in (
            ("level", reliability.by_depth(seen), "level below the root"),
            ("rank", reliability.by_rank(seen), "rank among siblings"),
        ):
            chart = figures.acceptance_by(groups, keys)
            st.plotly_chart(chart, theme=None, config=lab.CHART, key=f"by-{name}", alt=f"Confidence and acceptance by {name}")


def _ladder(names: tuple[str, ...], settings: Settings, recording: Recording) -> None:
    chrome.card_title("The ladder", f"same drafter, same {settings.budget} nodes; each rung changes one thing")
    choice = st.segmented_control(
        "Ladder",
        ["ladder", "ablation"],
        default="ladder",
        required=True,
        label_visibility="collapsed",
        key="ladder",
        on_change=session.heed,
        format_func={"ladder": "From chain to upper bound", "ablation": "The paper's ablation"}.get,
    )
    with st.spinner("Replaying every policy on every recorded context …"):
        rungs = replays.ladder(names, settings.budget, settings.top_k, min(settings.max_depth, MAX_DEPTH), choice)
    if not rungs:
        raise ValueError(f"top_k: {settings.top_k} given, not every text here holds so wide a beam; shipped ones hold 1 to {TOP_K}")
    titles = [_rung_title(rung) if choice == "ladder" else ABLATION[rung.name] for rung in rungs]
    alt = "Accepted tokens a pass of each policy: the target's probabilities and the drafter's estimate"
    oracle = recording.drafter == "oracle"
    st.plotly_chart(figures.ladder(rungs, titles, accepted=not oracle), theme=None, config=lab.CHART, key="rungs", alt=alt)
    said = (
        " Six levels, as in the paper, which reports for Vicuna-7B on MT-bench tau 3.92, 4.39, 4.86, 4.98."
        if choice == "ablation"
        else ""
    )
    ticks = "" if oracle else "; ticks: accepted in the recorded greedy texts"
    st.html(
        f'<p class="quiet">Mean over {rungs[0].contexts} recorded contexts, bonus not counted, drafted by '
        f"{escape(library.drafted_by(recording))}. Bars: "
        f"expected tokens with the target's probabilities; rings: the drafter's estimate{ticks}.{said}</p>"
    )


def _rung_title(rung: Rung) -> str:
    title = "Upper bound (oracle)" if rung.name == "oracle" else rung.title
    return f"{title}<br>{LADDER_NOTE[rung.name]}"


ABLATION = {
    "neither": "Neither<br>own confidence, no rerank",
    "no value": "Rerank only<br>frontier by own confidence",
    "no rerank": "Value only<br>no rerank",
    "full": "Both<br>EAGLE-2",
}
