"""The controls of live generation, and what it shows while it runs."""

from __future__ import annotations

from html import escape
from time import monotonic

import streamlit as st

from ..core.replay import READ_FOR_GREEDY, greedy_gap
from . import library, live, session, world
from .page import Origin
from .settings import ALL_STEPS

_RUN, _SHOWN = "live_run", "live_shown"
PROMPT = "Write a short thank-you note to a neighbour."
TIMED = (
    "Writes the same answer three times with drafts and three times without, in turns, and shows medians and ranges. For an answer "
    "made on this machine."
)
EVERY = "Takes minutes. Without it the answer has the trees of the two policies chosen here, at any budget."
POLL = 0.6
"""Seconds between two looks at a run."""


def controls() -> None:
    """Type a prompt, choose the drafter, start or stop."""
    busy = _busy()
    with st.expander("Your own prompt, live"):
        st.text_area("Prompt", PROMPT, **session.own("live_prompt"), max_chars=2000, height=90)
        options = [name for name in live.DRAFTERS if name != "head" or live.heads()]
        st.text_input("System prompt (optional)", **session.own("live_system"), max_chars=1000)
        st.toggle("Raw text", **session.own("live_raw"), help="No chat template: the model goes on with the text as it stands.")
        if _last_turns():
            help_ = "Your prompt is the next turn of the same conversation."
            st.toggle("Go on from the last answer", **session.own("live_go_on"), help=help_)
        st.selectbox("Drafter", options, format_func=live.DRAFTERS.get, **session.own("live_drafter"))
        if st.session_state["live_drafter"] == "served":
            _servers()
        st.slider("Tokens at most", 16, 128, 64, step=8, **session.own("live_limit"))
        st.toggle("Measure the speed afterwards", help=TIMED, **session.own("live_timed"))
        st.toggle("Draft for all other settings afterwards", help=EVERY, **session.own("live_every"))
        _buttons(busy)


def _buttons(busy: bool) -> None:
    """What can be done now; a button that cannot be pressed says why."""
    missing = st.session_state["live_drafter"] != "served" and not live.target_is_here()
    why = "The target model is not here yet: get it first." if missing else "A run is going on: stop it first." if busy else None
    with st.container(horizontal=True):
        st.button("Generate", key="live_start", type="primary", disabled=why is not None, help=why, on_click=_start)
        idle = None if busy else "Nothing is running."
        st.button("Stop", key="live_stop", disabled=not busy, help=idle or "What has been made so far stays.", on_click=_stop)
    if missing:
        wait = "A run is going on." if busy else None
        st.button("Get the target model (93 MB)", key="live_fetch", type="tertiary", disabled=busy, help=wait, on_click=_fetch)


def _servers() -> None:
    """Addresses and keys; a password field's text stays in this session."""
    text = "A vLLM, SGLang or llama.cpp server, as in http://127.0.0.1:8000"
    alone = f"{text}. Without a second address it drafts for itself."
    st.text_input("Server address", **session.own("live_url"), max_chars=300, help=alone)
    st.text_input("Key (optional)", **session.own("live_key"), type="password", max_chars=300)
    wide = "A larger model of the same vocabulary whose text the first one drafts."
    st.text_input("Address of the target's server (optional)", **session.own("live_target_url"), max_chars=300, help=wide)
    st.text_input("The target's key (optional)", **session.own("live_target_key"), type="password", max_chars=300)


def _typed_servers() -> live.Servers | None:
    state = st.session_state
    if state["live_drafter"] != "served":
        return None
    return live.Servers(state["live_url"], state["live_target_url"], state["live_key"], state["live_target_key"])


def _busy() -> bool:
    run = st.session_state.get(_RUN)
    return run is not None and not run.finished


def _last_turns() -> tuple[str, ...]:
    run = st.session_state.get(_RUN)
    return run.turns if run is not None else ()


def _start() -> None:
    session.acted()
    if _busy():
        return  # the second half of a double click
    now = session.current()
    state = st.session_state
    try:
        before = _last_turns() if state.get("live_go_on") else ()
        prompt = live.asked(state["live_prompt"], state["live_system"], state["live_raw"], before)
        request = live.Request(
            prompt,
            state["live_drafter"],
            state["live_limit"],
            now.budget,
            now.top_k,
            now.max_depth,
            tuple(side.policy() for side in world.sides(now)),
            _typed_servers(),
            timed=state["live_timed"] and state["live_drafter"] != "served",
            every_setting=state["live_every"],
        )
    except ValueError as error:
        state[_RUN], state[_SHOWN] = live.Live(None, error=str(error), finished=True), (None, True)
        return
    state[_RUN], state[_SHOWN] = live.start(request), (None, False)


def _fetch() -> None:
    session.acted()
    if _busy():
        return
    st.session_state[_RUN], st.session_state[_SHOWN] = live.start_fetch(), (None, False)


def _stop() -> None:
    session.acted()
    st.session_state[_RUN].stop.set()


def progress() -> None:
    """The run as it goes: stage, text so far, numbers; polled only while it runs."""
    run = st.session_state.get(_RUN)
    if run is not None:
        st.fragment(_look, run_every=None if run.finished else POLL)(run)


def _look(run: live.Live) -> None:
    """One look; when the trees are ready the page moves to them, while the rest is still being drafted."""
    run.seen = monotonic()
    with st.container(key="card-live", border=True):
        st.html(f'<p class="claim" data-testid="live-stage">{escape(_headline(run))}</p>')
        if run.finished:
            st.empty()  # in the bar's place, so that what stands below it is not shown twice while the page runs again
        else:
            st.progress(run.share)
        if run.pieces:
            words = "".join(f'<span class="{kind}">{escape(text)}</span>' for text, kind in list(run.pieces) if text)
            st.html(f'<p class="live-text" data-testid="live-text">{words}</p>')
        if "passes" in run.numbers:
            st.html(_numbers(run))
    if (run.recording, run.finished) != st.session_state.get(_SHOWN, (None, False)):
        _show(run)


def _show(run: live.Live) -> None:
    """Take what the run has made since the last look. Its first passes move the page there; who looks at them sees them grow."""
    before, made, now = st.session_state.get(_SHOWN, (None, False))[0], run.recording, session.current()
    st.session_state[_SHOWN] = (made, run.finished)
    change = {}
    if made is not None and made is not before:
        library.keep_live(made, instead_of=before)
        if before is None:
            change = now.but(recording=made.name, position=0, step=ALL_STEPS)
        elif now.recording == before.name:
            change = {"recording": made.name}
    session.act(change, Origin.CONTENT)


def _headline(run: live.Live) -> str:
    if run.error:
        return f"It did not work: {run.error}"
    what = "Fetching the target" if run.request is None else "Generating"
    return f"{what}: {run.stage}" + ("" if run.finished else " …")


def _numbers(run: live.Live) -> str:
    numbers = run.numbers
    facts = [f"{numbers['tokens']} tokens in {numbers['passes']} passes"]
    if numbers["passes"]:
        measured, expected = numbers["tau"], numbers["expected"]
        greedy = run.recording is not None and run.recording.read_for_greedy
        why = READ_FOR_GREEDY if greedy else greedy_gap([(expected, measured)])
        facts += [f"EAGLE-2: tau {measured:.2f} measured, {expected:.2f} expected. {why}", str(numbers["acceptance"])]
    facts += [f"{numbers['speed']}; {numbers['same']}"] if "speed" in numbers else []
    return "<ul class='facts'>" + "".join(f"<li>{escape(fact)}</li>" for fact in facts) + "</ul>"
