"""One way in: every message of the browser changes what its own widget says and nothing else, however late it comes."""

import json
import secrets
from dataclasses import replace

import pytest

from eagle_viz.core import recording
from eagle_viz.core.policies import POLICIES
from eagle_viz.ui import live, session, stage_panel
from eagle_viz.ui.live import DRAFTERS
from eagle_viz.ui.page import STAGE, Origin
from eagle_viz.ui.presets import PRESETS, changes_by_name
from eagle_viz.ui.settings import PROPERTIES, SOURCES, VIEWS, base_of
from eagle_viz.ui.times import titles
from tests.ui.pages import opened, painted, said, settings_of

CHOICES = {
    "set_view": VIEWS,
    "set_source": SOURCES,
    "ladder": ("ladder", "ablation"),
    "pass_side": ("dynamic", "static"),
    "set_static": POLICIES,
    "set_dynamic": POLICIES,
    "set_recording": recording.shipped(),
    "set_cost": titles(),
    "live_drafter": DRAFTERS,
}
"""What widgets of choice offer, by their keys: the page's tests see only what it shows of them."""
STALE = {"seed": "77", "sharpness": "1.1"}
"""A URL of long ago, as a message may carry it that was sent before the browser heard of the newest one."""
KINDS = ("slider", "number_input", "selectbox", "text_area", "text_input", "toggle", "button_group", "file_uploader", "button")
PAGES = {
    "lab": {},
    "by hand": {"source": "levels"},
    "recording in the lab": {"source": "recording"},
    "tour": {"tour": "2"},
    "real text": {"view": "text"},
    "confidence": {"view": "confidence"},
    "speed": {"view": "speed"},
    "pass": {"view": "pass"},
}


def widgets(app):
    """Every widget on the page that can be used, by its key."""
    return {one.key: one for kind in KINDS for one in app.get(kind) if one.key and not one.proto.disabled}


def use(widget):
    """Say something else with it."""
    kind = type(widget).__name__
    if kind == "Button":
        return widget.click()
    if kind in ("Slider", "NumberInput"):
        return widget.set_value(widget.min if widget.value != widget.min else widget.max)
    if kind in ("Selectbox", "ButtonGroup"):
        return widget.set_value(next(option for option in CHOICES[widget.key.rstrip("_0123456789")] if option != widget.value))
    if kind == "FileUploader":
        return widget.set_value(("odd.bin", b"\xff\x00", "application/octet-stream"))
    return widget.set_value(not widget.value if kind == "Toggle" else f"{widget.value} 0.001")


def own_settings(key):
    """The settings that a widget may change, None for all of them."""
    if key.startswith(("preset_", "tour_", "see_")):
        return None
    name = key.removeprefix("set_").rstrip("_0123456789")
    follow = {"recording": {"position"}, "cost": {"times"}, "redraw": {"seed"}, "view": {"recording"}, "source": {"recording"}}
    return {name} & set(PROPERTIES) | follow.get(name, set())


@pytest.mark.parametrize("place", PAGES)
def test_a_message_with_a_stale_url_changes_only_what_its_own_widget_says(place, monkeypatch):
    """Each widget found on the page is used by a message that carries an old URL; no setting but its own moves."""
    monkeypatch.setattr(secrets, "randbelow", lambda most: 5)
    drawers = {"more": True, "more_to_try": True, "share_open": True}
    drawers["live_drafter"] = "served"  # the panel of live generation with all its fields
    app, used = opened(state=drawers, **PAGES[place]), []
    for key in list(widgets(app)):
        if key not in widgets(app):
            app = opened(state=drawers, **PAGES[place])
        before = settings_of(app)
        app.query_params.clear()
        for name, value in STALE.items():
            app.query_params[name] = value
        use(widgets(app)[key]).run()
        assert not app.exception, key
        after, may = settings_of(app), own_settings(key)
        moved = {name for name in PROPERTIES if getattr(before, name) != getattr(after, name)}
        if key.startswith("preset_"):
            assert replace(after, recording="") == replace(base_of(key[7:], changes_by_name()), recording=""), key
        grown = {"step"} if before.step == 0 else set()  # other trees asked for before the first node are shown whole
        assert may is None or moved <= may | grown, key
        assert (after.seed, after.sharpness) != (77, 1.1), key
        assert dict(app.query_params) == session_url(app), key
        used.append(key)
    assert len(used) >= 8


def session_url(app):
    """The URL that the page wrote, as the test's address bar holds it."""
    return app.session_state["page"].url


def test_the_page_keeps_five_values_in_the_session_and_no_more(monkeypatch):
    """Counted on a page where everything was done: a preset, a file, the tour, a live run that failed."""
    monkeypatch.setattr(live, "target_is_here", lambda: True)
    app = opened(state={"share_open": True})
    app.file_uploader(key="upload").set_value(trees(0.5)).run()
    app.button(key="tour_start").click().run()
    app.button(key="tour_leave").click().run()
    assert not app.exception
    app = opened(view="text")
    app.text_area(key="live_prompt").set_value(" ").run()
    app.button(key="live_start").click().run()
    state = app.session_state._state._state
    ours = {key for key in (*state._new_session_state, *state._old_state) if not key.startswith("$$")}
    assert ours - set(state._key_id_mapper._key_id_mapping) - {"more"} <= {"page", "widgets", "files", "live_run", "live_shown"}


def trees(confidence):
    side = {"policy": "eagle2", "nodes": [{"path": "0", "confidence": confidence, "value": confidence}]}
    return ("trees.json", json.dumps({"version": 1, "static": side, "dynamic": side}).encode(), "application/json")


@pytest.mark.parametrize(("drawn", "charts"), [(False, 0), (True, 1)])
def test_the_first_charts_wait_until_the_browser_has_painted_the_trees(drawn, charts):
    """Before its answer nothing is drawn below the stage."""
    assert len(opened(drawn).get("plotly_chart")) == charts


def test_sentences_about_the_link_leave_with_the_first_change():
    """They are about the link, not about what was made of it."""
    app = opened(sharpness="99")
    assert "About this link" in said(app)
    app.number_input(key="set_seed").set_value(3).run()
    assert not app.exception and "About this link" not in said(app)
    assert "Draft tree lab" in said(app)


def test_settings_without_trees_do_not_keep_the_rest_of_the_page_waiting():
    """Where nothing can be painted, one sentence says why and the drawer below is there."""
    app = opened(drawn=False, source="levels", levels="0.9 0.9")
    assert any("Take it with you" in drawer.label for drawer in app.expander) and not app.get("plotly_chart")
    assert said(app).count("page-sentence") == 1


@pytest.fixture
def sent(monkeypatch):
    """What the stage was sent, run by run: the trace and the options."""
    calls, stage = [], stage_panel.stage

    def noting(trace, command, **options):
        calls.append({"trace": trace, "command": command} | options)
        return stage(trace, command, **options)

    monkeypatch.setattr(stage_panel, "stage", noting)
    return calls


def test_a_mistyped_field_leaves_the_last_good_picture(sent):
    """What was typed stays in the field and why it cannot be taken stands below it; the trees, the settings and the link stay."""
    app = opened(source="levels", levels="0.9 0.1")
    before = sent[-1]["trace"]["id"]
    for typed in ("0.9 0.9", "abc", "0.8 0.1"):
        app.text_area(key=next(area.key for area in app.text_area if area.key.startswith("set_levels"))).set_value(typed).run()
        good = typed == "0.8 0.1"
        assert not app.exception and ("The picture stays as it was." in said(app)) == (not good)
        assert settings_of(app).levels == (typed if good else "0.9 0.1")
        assert (sent[-1]["trace"]["id"] == before) == (not good)
        assert next(area.value for area in app.text_area if area.key.startswith("set_levels")) == typed
    assert sent[-1]["ask"] == app.session_state["page"].revision


def test_a_file_is_drawn_even_where_every_setting_stays_as_it_was(sent):
    """A link to a file names no file; opening one with the same settings, and then another, asks the browser each time."""
    app = opened(source="file", budget="1")
    before = settings_of(app)
    for confidence in (0.5, 0.25):
        app.file_uploader(key="upload").set_value(trees(confidence)).run()
        assert not app.exception and settings_of(app) == before
        assert sent[-1]["ask"] == app.session_state["page"].revision
        assert sent[-1]["trace"]["sides"]["dynamic"]["curve"][-1] == confidence
        painted(app)


def test_a_budget_let_go_within_the_trace_sends_the_same_trace_again_whole(sent):
    """From 25 to 26 and past 32 nothing new is sent: phases stay, rolls stay, no question is asked."""
    app = opened()
    first = sent[-1]
    for budget in (26, 40):
        app.session_state["page"] = app.session_state["page"].changed({"budget": budget}, Origin.STAGE)
        app.run()
        assert sent[-1]["trace"] is first["trace"] and sent[-1]["command"] == first["command"] and sent[-1]["ask"] is None
    assert first["trace"]["phases"] and first["trace"]["tier"] == 128


def test_while_a_slider_is_held_the_link_waits_and_the_trees_are_small(sent):
    """A held sharpness sends bare trees and asks nothing; letting go writes the link."""
    app = opened()
    for held in (True, False):
        page = app.session_state["page"].changed({"sharpness": 1.0}, Origin.STAGE, held=held)
        app.session_state["page"] = page
        app.run()
        assert not sent[-1]["trace"]["phases"] and (sent[-1]["ask"] is None) == held


class Browserless:
    """Streamlit as far as ``session`` needs it outside a page."""

    class Query(dict):
        to_dict = dict.copy

        def from_dict(self, query):
            self.clear()
            self.update(query)

    def __init__(self, query=()):
        self.session_state, self.query_params, self.ran = {}, self.Query(query), []

    def rerun(self, which="app"):
        self.ran.append(which)


@pytest.fixture
def page(monkeypatch):
    """A page with a link whose settings have just been read, run to its end."""
    page = Browserless({"seed": "3"})
    monkeypatch.setattr(session, "st", page)
    session.begin()
    session.finish()
    return page


def test_the_answer_that_the_trees_are_painted_brings_the_charts_whatever_url_it_carries(page):
    """It undoes nothing, and an answer about trees long gone brings nothing."""
    session.act({"seed": 4})
    session.write_link()
    page.query_params.from_dict({"seed": "3"})
    session.painted(1)
    assert page.ran == [[STAGE, "settings"]] and session.begin().seed == 4
    session.finish()
    session.painted(session.page().revision)
    assert page.ran[1:] == [[STAGE, "charts"]]


def test_an_address_changed_by_hand_is_still_news(page):
    """What no widget sent is read, and the stage is told."""
    page.query_params.from_dict({"seed": "9", "step": "2"})
    assert session.begin().seed == 9 and session.page().told.step == 2


def test_a_widget_that_says_what_it_always_said_moves_nothing(page):
    """A preset renews a widget's key, so that the value the browser still holds is not taken for a move."""
    bound = session.bind("sharpness")
    session.act(session.current().but(sharpness=0.8))
    page.session_state[bound["key"]] = 2.5  # the browser has not heard of 0.8 yet
    bound["on_change"]()
    assert session.current().sharpness == 0.8
    again = session.bind("sharpness")
    assert again["key"] != bound["key"] and page.session_state[again["key"]] == 0.8
    page.session_state[again["key"]] = 1.5
    again["on_change"]()
    assert session.current().sharpness == 1.5 and session.bind("sharpness")["key"] == again["key"]


def test_a_report_sent_before_a_command_was_heard_undoes_nothing(page, monkeypatch):
    """The stage says which command it had heard; one that had not heard the last keeps its budget to itself."""
    from eagle_viz.stage import StageReport

    late = StageReport(40, 40, "nodes", told=session.page().told.revision)
    monkeypatch.setattr(stage_panel, "stage_report", lambda: late)
    session.act({"budget": 4})
    stage_panel.take_report()
    assert session.current().budget == 4
    monkeypatch.setattr(stage_panel, "stage_report", lambda: replace(late, told=session.page().told.revision))
    stage_panel.take_report()
    assert session.current().budget == 40


def test_every_preset_is_on_the_page():
    """The walk above has used them all."""
    assert {f"preset_{name}" for name in PRESETS} <= set(widgets(opened(state={"more_to_try": True})))
