"""Live generation's thread: progress, stop, and failures that say why."""

import threading
import time
from dataclasses import replace

import pytest

from eagle_viz.core.policies import POLICIES, Eagle1, Eagle2
from eagle_viz.core.readout import draft_up_to
from eagle_viz.ui import live as live_module
from eagle_viz.ui.live import Live, Request, Stopped, _guarded, asked, load
from eagle_viz.ui.live_local import speed_sentence
from tests.ui.pages import opened, settings_of

REQUEST = Request(asked("Hello"), "oracle", 16, 25, 10, 6)


def finished(live, seconds=60):
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
        load("oracle", 10)


def test_a_policy_that_needs_other_texts_is_not_drafted_beside_an_answer():
    """Neither the best static shape nor Sequoia, nor a stranger's that says so."""
    shown = tuple(policy.offered() for policy in POLICIES.values())
    beside = {policy.name for policy, _ in replace(REQUEST, shown=shown).beside}
    assert beside == {name for name, policy in POLICIES.items() if not policy.needs_average}
    assert {"best_static", "sequoia"} & beside == set()


@pytest.fixture
def tiny(monkeypatch):
    """A tiny target as its own drafter; `start(**of the request)` runs it to its end and gives the run and all it published."""
    pytest.importorskip("torch")
    from eagle_viz.engine.drafted import OracleDrafter
    from tests.engine.tiny import tiny_target

    target, found = tiny_target(), []
    monkeypatch.setattr(live_module, "load", lambda drafter, top_k: (target, OracleDrafter(target)))
    monkeypatch.setattr(Live, "__setattr__", lambda self, name, value: _noting(found, self, name, value))

    def start(**more):
        live = live_module.start(Request(asked("a b c"), "oracle", 12, 10, 4, 4, (Eagle1(), Eagle2(4, 4)), **more))
        return finished(live, seconds=120), found

    return start


def test_passes_are_shown_as_they_come_and_nothing_is_drafted_twice(tiny, monkeypatch):
    """Every pass with both trees is there as soon as the answer is; no context is read or drafted again."""
    monkeypatch.setattr("eagle_viz.ui.live_local.PUBLISH", 0.0)
    monkeypatch.setattr("eagle_viz.engine.recorder.contexts_of", lambda *given: pytest.fail("drafted again"))
    live, found = tiny()
    assert live.error is None and live.stage == "done"
    assert "".join(text for text, _ in live.pieces) == live.recording.answer
    kinds = [kind for _, kind in live.pieces]
    accepted, of, drafted, *_ = live.numbers["acceptance"].split()  # those behind the limit count here, and are not shown
    assert kinds.count("accepted") <= int(accepted) <= int(drafted) <= 25 * live.numbers["passes"] and of == "of"
    assert kinds[0] == "first" and set(kinds[1:]) <= {"accepted", "bonus"} and len(kinds) == live.numbers["tokens"] + 1 <= 13
    assert live.turns == ("a b c", live.recording.answer) and "speed" not in live.numbers
    grown = [len(one.cycles) for one in found]
    assert grown == [*range(1, live.numbers["passes"] + 1), *[live.numbers["passes"]] * 2]
    assert len({one.name for one in found}) == len(found) and all("live-" in one.name for one in found)
    for cycle in live.recording.cycles:
        for policy in (Eagle2(top_k=4, max_depth=4), Eagle1()):
            assert draft_up_to(policy, cycle.landscape, 60)[0].budget >= 16
        tree = draft_up_to(Eagle2(top_k=4, max_depth=4), cycle.landscape, 10)[0].tree
        verdict = cycle.verdict(tree)
        assert (tree.paths[verdict.accepted[-1]] if verdict.accepted else ()) == cycle.verdicts[0].path


def test_stop_keeps_the_passes_that_were_made(tiny, monkeypatch):
    """Stopped after its second pass, a run leaves two passes, their text and their numbers."""
    say = Live.say
    monkeypatch.setattr(
        Live, "say", lambda self, stage, share=0.0: (self.stop.set() if stage == "pass 2" else None, say(self, stage, share))
    )
    live, _ = tiny()
    assert live.stage == "stopped" and live.error is None
    assert len(live.recording.cycles) == live.numbers["passes"] == 2
    assert live.recording.answer_length == live.numbers["tokens"] == len(live.pieces) - 1


def test_speed_and_all_other_settings_only_where_asked_for(tiny):
    """Measured in rounds against plain decoding, which writes the same text; drafted wider, every other setting is answered."""
    live, found = tiny(timed=True, every_setting=True)
    assert live.error is None and live.numbers["same"] == "identical to plain decoding"
    assert "3 rounds in turns" in live.numbers["speed"]
    narrow, wide = found[-2:]
    assert wide is live.recording and len(narrow.cycles) == len(wide.cycles)
    for one, other in zip(narrow.cycles, wide.cycles, strict=True):
        for policy in (Eagle2(top_k=4, max_depth=4), Eagle1()):
            tree = draft_up_to(policy, one.landscape, 60)[0].tree
            assert tree.paths == draft_up_to(policy, other.landscape, 60)[0].tree.paths
        assert set(one.landscape.candidates) < set(other.landscape.candidates)


@pytest.mark.parametrize(
    ("drafted", "plain", "end"),
    [
        ([30.0, 31.0, 29.0], [20.0, 21.0, 19.0], "1.50 times plain decoding"),
        ([10.0, 11.0, 9.0], [20.0, 21.0, 19.0], "0.50 times plain decoding"),
        ([20.0, 25.0, 18.0], [19.0, 21.0, 17.0], "this machine shows no difference now"),
    ],
)
def test_a_ratio_of_speeds_is_named_only_where_the_rounds_are_apart(drafted, plain, end):
    """Medians and ranges always, a ratio where no round of one reaches the other."""
    said = speed_sentence(drafted, plain)
    assert said.endswith(end) and f"({min(plain):.1f} to {max(plain):.1f})" in said


def _noting(found, live, name, value):
    if name == "recording" and value is not None:
        found.append(value)
    object.__setattr__(live, name, value)


def test_the_page_moves_to_the_first_passes_of_a_run_and_stays_where_one_went_when_more_come():
    """The run itself is a stand-in: what it hands over are two shipped recordings as if one had grown."""
    from dataclasses import replace

    from eagle_viz.core import recording

    shipped = [recording.read(path) for path in list(recording.shipped().values())[:2]]
    narrow, wide = (replace(one, name=f"live-{number}") for number, one in enumerate(shipped, start=1))
    run = Live(REQUEST)
    app = opened(state={"live_run": run}, view="text")
    assert settings_of(app).recording != "live-1"
    run.recording = narrow
    app.run()
    assert not app.exception and settings_of(app).recording == "live-1"
    assert app.session_state["files"].recordings["live-1"] is narrow
    app.slider(key="set_position").set_value(3).run()
    run.recording, run.finished = wide, True
    app.run()
    kept = app.session_state["files"].recordings
    assert not app.exception and kept["live-2"] is wide and "live-1" not in kept
    assert (settings_of(app).recording, settings_of(app).position) == ("live-2", 3)


def test_system_prompt_raw_text_and_the_next_turn_are_asked_as_typed(monkeypatch):
    """The panel: a system prompt and a raw text reach the request; after an answer the next prompt can go on from it."""
    requests = []
    monkeypatch.setattr(live_module, "target_is_here", lambda: True)
    monkeypatch.setattr(live_module, "start", lambda request: requests.append(request) or Live(request, finished=True))
    app = opened(view="text")
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
