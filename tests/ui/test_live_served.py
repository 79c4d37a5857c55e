"""The live panel with served models: what is typed is asked, and a key stays where it was typed."""

import time

import pytest

from eagle_viz.core.policies import Eagle1, Eagle2
from eagle_viz.ui import live as live_module
from eagle_viz.ui.live import Live, Request, Servers, asked
from tests.engine.served.fake import KEY, Model, decode, encode, greedy_after, serving
from tests.ui.pages import opened

SHOWN = (Eagle1(), Eagle2(4, 3))


def finished(live):
    deadline = time.monotonic() + 60
    while not live.finished and time.monotonic() < deadline:
        time.sleep(0.01)
    return live


def request(servers, limit=6) -> Request:
    return Request(asked("a question", raw=True), "served", limit, 10, 4, 3, SHOWN, servers, every_setting=True)


def test_a_run_on_two_servers_ends_as_a_recording():
    """The target's text, piece by piece as the leading policy's passes wrote it, and trees for every setting."""
    with serving("llamacpp", model=Model(salt=1), key=KEY) as small, serving("vllm") as large:
        live = finished(live_module.start(request(Servers(small.url, large.url, KEY))))
    wanted = greedy_after(encode("a question"), 6)
    assert (live.error, live.stage) == (None, "done")
    assert "".join(text for text, _ in live.pieces) == live.recording.answer == decode(wanted)
    accepted = [cycle.verdicts[0].accept_length for cycle in live.recording.cycles]
    kinds = [kind for length in accepted for kind in ["accepted"] * length + ["bonus"]]
    assert [kind for _, kind in live.pieces] == ["first", *kinds][: len(wanted)]
    assert live.recording.made["holds"]["budget"] == 128 and live.recording.drafter == "tiny1"
    assert KEY not in repr(live)


def test_the_environments_key_is_not_sent_to_an_address_typed_on_the_page(monkeypatch):
    """Whoever opens the page chooses the address: only a key typed beside it is sent there."""
    monkeypatch.setenv("EAGLE_VIZ_API_KEY", KEY)
    with serving("vllm", key=KEY) as fake:
        live = finished(live_module.start(request(Servers(fake.url))))
    assert "(401); put the right one in the password field" in live.error and KEY not in live.error


def test_a_run_is_stopped_between_two_requests():
    with serving("vllm", delay=0.05) as fake:
        live = live_module.start(request(Servers(fake.url)))
        live.stop.set()
        assert finished(live).stage == "stopped" and live.error is None


@pytest.mark.parametrize(
    "url, sentence", [("127.0.0.1:8000", "url: not an address"), ("http://127.0.0.1:1", "no server answers here")]
)
def test_an_address_that_does_not_work_is_one_sentence(url, sentence):
    assert sentence in finished(live_module.start(request(Servers(url)))).error


def test_no_address_is_refused():
    with pytest.raises(ValueError, match="^server address: nothing given"):
        Servers("  ")
    with pytest.raises(ValueError, match="^servers: None given with drafter 'served'"):
        request(None)


def test_the_panel_asks_what_was_typed_and_shows_no_key(monkeypatch):
    """Address and key reach the request; the page's own address and texts do not hold the key."""
    requests = []
    monkeypatch.setattr(live_module, "start", lambda request: requests.append(request) or Live(request, finished=True))
    app = opened(view="text")
    app.selectbox(key="live_drafter").set_value("served").run()
    app.button(key="live_start").click().run()
    assert not app.exception and not requests
    app.text_input(key="live_url").set_value("http://127.0.0.1:8000")
    app.text_input(key="live_key").set_value(KEY)
    app.button(key="live_start").click().run()
    assert not app.exception and [one.servers for one in requests] == [Servers("http://127.0.0.1:8000", "", KEY, "")]
    assert KEY not in str(dict(app.query_params)) and KEY not in repr(app.session_state["page"]) and KEY not in str(app.main)
