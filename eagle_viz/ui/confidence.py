"""Is confidence acceptance? Reliability, acceptance by depth and rank, the ladder and the paper's ablation, on recordings."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import streamlit as st

from ..core import reliability
from ..core.ladder import Rung
from ..core.policies import POLICIES
from ..core.recording import MAX_DEPTH, TOP_K, Recording
from ..view import figures
from . import chrome, controls, library, lying, many_contexts, replays, session, surer, world
from .settings import Settings

WORDS = (
    "EAGLE-2 prices a node with the drafter's confidence, before the large model has seen it. That only works if confidence means "
    "acceptance: of all tokens drafted with confidence 0.8, about 80 % should survive. On the left each dot is one fifteenth "
    "of the drafted tokens whose parent was accepted; on the pale diagonal, confidence and acceptance are the same. On the right "
    "each bar is a stretch of confidence, 0.1 wide; the fewer tokens it stands for, the less it says."
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
    st.toggle("All recordings of this drafter", value=True, **session.own("all_recordings"))


def _show() -> None:
    settings, everything = session.current(), st.session_state["all_recordings"]
    st.html(f'<p class="intro">{WORDS}</p>')
    names = library.same_drafter(settings.recording) if everything else (settings.recording,)
    key = world.sides(settings)[1]
    recording = library.read_recording(settings.recording)
    if not recording.whole:
        chrome.say("This recording does not say that it answers for every setting: what it lacks is left out below.")
    if recording.drafter == "oracle":
        chrome.say(
            "This drafter is the target itself: its confidence is the target's probability, so the error is 0 by construction."
        )
    aside = f"{key.title}, budget {settings.budget}, {len(names)} texts, drafted by {library.drafted_by(recording)}"
    with st.container(key="card-reliability", border=True), chrome.in_one_sentence():
        chrome.card_title("Confidence against acceptance", aside)
        with st.spinner(f"Reading {len(names)} recording{'s' * (len(names) > 1)} …"):
            seen = replays.observations(names, key, settings.budget)
        found = reliability.reliability(seen)
        _reliability(seen, found)
        if recording.read_for_greedy:
            _greedy(seen, found)
        chrome.remarks(many_contexts.calibration(), "many-calibration")
    with st.container(key="card-ladder", border=True), chrome.in_one_sentence():
        _ladder(names, settings, recording)
    with st.container(key="card-sureness", border=True), chrome.in_one_sentence():
        surer.card(settings)
    lying.card()


def _reliability(seen: reliability.Observations, found: reliability.Reliability) -> None:
    each = found.count // max(1, len(found.bins))
    st.html(
        f'<p class="claim" data-testid="ece">Calibration error <b class="dynamic">{found.ece:.3f}</b></p>'
        f'<p class="quiet">Mean distance of confidence from the target\'s own probability, {len(found.bins)} bins of equal count '
        f"({each} tokens each); against what was accepted in these texts {found.ece_accepted:.3f}. {found.count} drafted tokens "
        "whose parent was accepted; lines on dots and bars are 95 % intervals, numbers above bars how many tokens they stand for. "
        "These texts were decoded greedily, so only the top token can be accepted: unlikely guesses are accepted less often than "
        "their probability, and likely ones more often.</p>"
    )
    charts = (
        ("reliability", figures.reliability(found), f"Bins of equal count: confidence against acceptance, {each} tokens a dot"),
        (
            "reliability-width",
            figures.reliability_by_width(reliability.bins_of_equal_width(seen)),
            "Bins of equal width: confidence against acceptance, with the count of each bar",
        ),
        ("by-level", figures.acceptance_by(reliability.by_depth(seen), "level below the root"), "Acceptance by level"),
        ("by-rank", figures.acceptance_by(reliability.by_rank(seen), "rank among siblings"), "Acceptance by rank"),
    )
    for pair in (charts[:2], charts[2:]):
        _side_by_side(pair)


def _greedy(seen: reliability.Observations, plain: reliability.Reliability) -> None:
    """The same nodes by their chance to be the target's first choice: the reading that these trees are drawn in."""
    chances = replace(seen, confidence=seen.chance)
    found = reliability.reliability(chances)
    chrome.card_title("Read for greedy decoding", "each token's chance to be the target's first choice; it draws these trees")
    st.html(
        f'<p class="claim" data-testid="ece-greedy">Calibration error <b class="dynamic">{found.ece_accepted:.3f}</b></p>'
        '<p class="quiet">Mean distance of this chance from the share that was accepted in these texts; of the confidence as it is '
        f"{plain.ece_accepted:.3f}.</p>"
    )
    charts = (
        ("reliability-greedy", figures.reliability(found), "Bins of equal count: chance to be the first choice against acceptance"),
        (
            "reliability-greedy-width",
            figures.reliability_by_width(reliability.bins_of_equal_width(chances)),
            "Bins of equal width: chance to be the first choice against acceptance",
        ),
    )
    _side_by_side(charts)


def _side_by_side(charts: tuple) -> None:
    for column, (key, chart, alt) in zip(st.columns(2, gap="medium"), charts, strict=True):
        with column:
            chrome.chart(chart, key, alt)


def _ladder(names: tuple[str, ...], settings: Settings, recording: Recording) -> None:
    chrome.card_title("The ladder", f"same drafter, same {settings.budget} nodes; each rung changes one thing")
    choice = st.segmented_control(
        "Ladder",
        ["ladder", "ablation"],
        default="ladder",
        required=True,
        label_visibility="collapsed",
        **session.own("ladder"),
        format_func={"ladder": "From chain to upper bound", "ablation": "The paper's ablation"}.get,
    )
    with st.spinner("Replaying every policy on every recorded context …"):
        rungs = replays.ladder(names, settings.budget, settings.top_k, min(settings.max_depth, MAX_DEPTH), choice)
    if not rungs:
        raise ValueError(f"top_k: {settings.top_k} given, not every text here holds so wide a beam; shipped ones hold 1 to {TOP_K}")
    titles = [_rung_title(rung) if choice == "ladder" else ABLATION[rung.name] for rung in rungs]
    alt = "Accepted tokens a pass of each policy: the target's probabilities and the drafter's estimate"
    oracle = recording.drafter == "oracle"
    chrome.chart(figures.ladder(rungs, titles, accepted=not oracle), key="rungs", alt=alt)
    said = (
        " Six levels, as in the paper, which reports for Vicuna-7B on MT-bench tau 3.92, 4.39, 4.86, 4.98."
        if choice == "ablation"
        else ""
    )
    left_out = [_rung_name(name) for name in LADDER_NOTE if name not in {rung.name for rung in rungs}] if choice == "ladder" else []
    if left_out:
        chrome.say(f"Left out, because these recordings do not hold what it needs: {', '.join(left_out)}.")
    ticks = "" if oracle else "; ticks: accepted in the recorded greedy texts"
    st.html(
        f'<p class="quiet">Mean over {rungs[0].contexts} recorded contexts, bonus not counted, drafted by '
        f"{escape(library.drafted_by(recording))}. Bars: "
        f"expected tokens with the target's probabilities; rings: the drafter's estimate{ticks}.{said}</p>"
    )


def _rung_title(rung: Rung) -> str:
    return f"{_rung_name(rung.name)}<br>{LADDER_NOTE[rung.name]}"


def _rung_name(name: str) -> str:
    return "Upper bound (oracle)" if name == "oracle" else POLICIES[name].title


ABLATION = {
    "neither": "Neither<br>own confidence, no rerank",
    "no value": "Rerank only<br>frontier by own confidence",
    "no rerank": "Value only<br>no rerank",
    "full": "Both<br>EAGLE-2",
}
