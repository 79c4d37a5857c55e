"""Live generation's thread: progress, stop, and failures that say why."""

import threading
import time
from pathlib import Path

import pytest

from eagle_viz.core.policies import Eagle1, Eagle2
from eagle_viz.core.readout import draft_up_to
from eagle_viz.ui import live as live_module
from eagle_viz.ui.live import Live, Request, Stopped, _guarded, asked, load

REQUEST = Request(asked("Hello"), "oracle", 16, 25, 10, 6)


def finished(live, seconds=10):
    deadline = time.monotonic() + seconds
    while not live.finished and time.monotonic() < deadline:
        time.sleep(0.01)
    return live


def test_a_bad_request_is_refused_in_a_sentence():
    """An unknown drafter, an empty prompt, a system prompt beside a raw text: the field is named."""
    with pytest.raises(ValueError, match="^drafter: 'x' given"):
        Request(asked("a"), "x", 1, 1, 1, 1)
    with pytest.raises(ValueError, match="^prompt: nothing given"):
        asked("  ")
    with pytest.raises(ValueError, match="^system: given beside raw"):
        asked("a", "Be brief.", raw=True)


def test_a_run_is_stopped_at_its_next_word():
    live = Live(REQUEST)

    def endless(live):
        while True:
            live.say("working", 0.5)

    threading.Thread(target=_guarded, args=(live, endless), daemon=True).start()
    live.stop.set()
    assert finished(live).stage == "stopped" and live.error is None


def test_a_deserted_run_stops_by_itself():
    live = Live(REQUEST, seen=time.monotonic() - 1000)
    with pytest.raises(Stopped):
        live.say("working")


@pytest.mark.parametrize(
    "error", [OSError("disk\nfull"), ValueError("seed: bad"), RuntimeError("no memory"), ImportError("x", name="torch")]
)
def test_a_failure_is_one_sentence(error):
    def fail(live):
        raise error

    live = Live(REQUEST)
    _guarded(live, fail)
    assert live.finished and "\n" not in live.error and str(error.args[0]).split()[0] in live.error + " x"


def test_without_weights_it_says_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setenv("EAGLE_VIZ_HOME", str(tmp_path))
    live_module._target.cache_clear()
    with pytest.raises(ValueError, match="fetch them first"):
        load("oracle")


def test_a_run_streams_its_tokens_compares_with_plain_decoding_and_ends_as_a_recording(monkeypatch):
    pytest.importorskip("torch")
    from eagle_viz.engine.drafted import OracleDrafter
    from tests.engine.tiny import tiny_target

    target = tiny_target()
    monkeypatch.setattr(live_module, "load", lambda drafter: (target, OracleDrafter(target)))
    found = []
    monkeypatch.setattr(Live, "__setattr__", lambda self, name, value: _noting(found, self, name, value))
    live = live_module.start(Request(asked("a b c"), "oracle", 12, 10, 4, 4, (Eagle1(), Eagle2(4, 4))))
    finished(live, seconds=120)
    assert live.error is None and live.stage == "done"
    assert live.numbers["same"] == "identical to plain decoding"
    assert "".join(text for text, _ in live.pieces) == live.recording.answer
    kinds = [kind for _, kind in live.pieces]
    assert kinds[0] == "first" and set(kinds[1:]) <= {"accepted", "bonus"} and len(kinds) == live.numbers["tokens"] + 1 <= 13
    assert live.turns == ("a b c", live.recording.answer)
    assert all(token in live.recording.texts for token in live.recording.tokens[live.recording.prompt_length :])
    assert live.recording.answer_length == live.numbers["tokens"] and "live-" in live.recording.name
    first, last = found
    assert last is live.recording and len(first.cycles) == len(last.cycles)
    for narrow, wide in zip(first.cycles, last.cycles, strict=True):
        for policy in (Eagle2(top_k=4, max_depth=4), Eagle1()):
            tree = draft_up_to(policy, narrow.landscape, 60)[0].tree
            assert tree.paths == draft_up_to(policy, wide.landscape, 60)[0].tree.paths
        assert set(narrow.landscape.candidates) < set(wide.landscape.candidates)


def _noting(found, live, name, value):
    if name == "recording" and value is not None:
        found.append(value)
    object.__setattr__(live, name, value)


def test_the_page_moves_to_the_first_recording_of_a_run_and_stays_where_one_went_when_a_wider_one_comes():
    """The run itself is a stand-in: what it hands over are two shipped recordings under one name."""
    from dataclasses import replace

    from streamlit.testing.v1 import AppTest

    from eagle_viz.core import recording
    from eagle_viz.ui.parts import NO_BROWSER

    shipped = [recording.read(path) for path in list(recording.shipped().values())[:2]]
    narrow, wide = (replace(one, name="live-1") for one in shipped)
    app = AppTest.from_file(str(Path(__file__).parents[2] / "app.py"), default_timeout=120)
    app.session_state[NO_BROWSER] = True
    app.query_params["view"] = "text"
    run = app.session_state["live_run"] = Live(REQUEST)
    app.run()
    assert app.session_state["settings"].recording != "live-1"
    run.recording = narrow
    app.run()
    assert not app.exception and app.session_state["settings"].recording == "live-1"
    assert app.session_state["live_recordings"]["live-1"] is narrow
    app.slider(key="set_position").set_value(3).run()
    run.recording, run.finished = wide, True
    app.run()
    assert not app.exception and app.session_state["live_recordings"]["live-1"] is wide
    assert (app.session_state["settings"].recording, app.session_state["settings"].position) == ("live-1", 3)


def test_system_prompt_raw_text_and_the_next_turn_are_asked_as_typed(monkeypatch):
    """The panel: a system prompt and a raw text reach the request; after an answer the next prompt can go on from it."""
    from streamlit.testing.v1 import AppTest

    from eagle_viz.ui.parts import NO_BROWSER

    requests = []
    monkeypatch.setattr(live_module, "start", lambda request: requests.append(request) or Live(request, finished=True))
    app = AppTest.from_file(str(Path(__file__).parents[2] / "app.py"), default_timeout=120)
    app.session_state[NO_BROWSER] = True
    app.query_params["view"] = "text"
    app.run()
    app.text_area(key="live_prompt").set_value("First?").run()
    app.text_input(key="live_system").set_value("Be brief.").run()
    app.button(key="live_start").click().run()
    app.session_state["live_run"].pieces += [("An", "first"), (" answer", "bonus")]
    app.run()
    app.toggle(key="live_go_on").set_value(True).run()
    app.text_area(key="live_prompt").set_value("Second?").run()
    app.button(key="live_start").click().run()
    first, second = (request.prompt for request in requests)
    assert (first.text, first.system, first.before) == ("First?", "Be brief.", ())
    assert (second.text, second.before) == ("Second?", ("First?", "An answer"))
    app.toggle(key="live_raw").set_value(True).run()
    app.button(key="live_start").click().run()
    assert not app.exception and app.session_state["live_run"].error.startswith("system: given beside raw")
