"""What runs again when: the charts wait for the trees, and whatever stands outside the parts is never left behind."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from eagle_viz.ui import lab, parts, session
from eagle_viz.ui.parts import NO_BROWSER

APP = str(Path(__file__).parents[2] / "app.py")


def opened(at_once=False, **query):
    app = AppTest.from_file(APP, default_timeout=120)
    if at_once:
        app.session_state[NO_BROWSER] = True
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def said(app):
    return "".join(html.proto.body for html in app.get("html"))


@pytest.mark.parametrize(("at_once", "charts"), [(False, 0), (True, 1)])
def test_the_charts_wait_until_the_browser_has_drawn_the_trees(at_once, charts):
    assert len(opened(at_once).get("plotly_chart")) == charts


def test_a_setting_changed_in_its_part_reaches_the_settings_and_the_link():
    app = opened(seed="12")
    app.slider(key="set_branching").set_value(7).run()
    assert not app.exception and app.session_state["settings"].branching == 7
    assert dict(app.query_params) in ({"seed": "12", "branching": "7"}, {"seed": ["12"], "branching": ["7"]})


def test_coverage_stands_in_sight_and_can_be_lowered():
    """What the candidates leave out is said beside its slider, without a drawer, and reaches the link."""
    app = opened()
    assert "Coverage 1: the next token is always" in said(app)
    app.slider(key="set_coverage").set_value(0.9).run()
    assert "with 10 % chance none of the candidates" in said(app)
    assert app.session_state["settings"].coverage == 0.9 and app.query_params["coverage"] in ("0.9", ["0.9"])


def test_sentences_about_the_link_leave_with_the_first_change():
    app = opened(sharpness="99")
    assert "About this link" in said(app)
    app.number_input(key="set_seed").set_value(3).run()
    assert not app.exception and "About this link" not in said(app)
    assert "Draft tree lab" in said(app)


def test_settings_without_trees_do_not_keep_the_rest_of_the_page_waiting():
    app = opened(source="levels", levels="0.9 0.9")
    assert any("Take it with you" in drawer.label for drawer in app.expander) and not app.get("plotly_chart")
    assert "page-sentence" in said(app)


def test_trees_come_back_after_a_mistake():
    app = opened(source="levels", levels="0.9 0.9")
    app.text_area(key="set_levels").set_value("0.9 0.1").run()
    assert not app.exception and "page-sentence" not in said(app)


def trees(confidence):
    side = {"policy": "eagle2", "nodes": [{"path": "0", "confidence": confidence, "value": confidence}]}
    return ("trees.json", json.dumps({"version": 1, "static": side, "dynamic": side}).encode(), "application/json")


def test_a_second_file_of_the_same_size_reaches_the_stage_too(monkeypatch):
    """What is drawn is the file that was loaded last, though nothing in the settings tells the two apart."""
    curves, stage = [], lab.stage
    monkeypatch.setattr(
        lab, "stage", lambda trace, **options: curves.append(trace["sides"]["dynamic"]["curve"]) or stage(trace, **options)
    )
    app = opened(source="file")
    for confidence in (0.5, 0.25):
        app.file_uploader(key="upload").set_value(trees(confidence)).run()
        assert not app.exception and curves[-1][-1] == confidence
        app.session_state["charted"] = app.session_state["settings"]  # as if the browser had drawn the trees
        app.run()


@pytest.fixture
def asked(monkeypatch):
    """What the stage was to say once its trees are drawn, run by run."""
    words, stage = [], lab.stage
    monkeypatch.setattr(lab, "stage", lambda *args, **options: words.append(options["acknowledge"]) or stage(*args, **options))
    return words


def test_charts_are_not_forgotten_when_a_mistake_is_taken_back(asked):
    app = opened(source="levels", levels="0.9 0.1")
    app.session_state["charted"] = app.session_state["settings"]  # as if the browser had drawn the trees
    for levels in ("0.9 0.9", "0.9 0.1"):
        app.text_area(key="set_levels").set_value(levels).run()
        assert not app.exception
    assert asked[-1] is not None


def test_charts_are_not_forgotten_when_trees_come_back_under_the_same_settings(asked):
    app = opened(source="file", budget="1")
    before = app.session_state["settings"]
    app.file_uploader(key="upload").set_value(trees(0.5)).run()
    assert not app.exception and app.session_state["settings"] == before
    assert asked and asked[-1] is not None


class Browserless:
    """Streamlit as far as ``parts`` and ``session`` need it outside a page."""

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
    """A page with a stage and charts whose settings have just been read, and the word that its browser says."""
    page = Browserless({"seed": "3"})
    for module in (parts, session):
        monkeypatch.setattr(module, "st", page)
    parts.begin(session.begin())
    for part in (parts.STAGE, parts.SETTINGS, parts.CHARTS):
        parts.present(part)
    monkeypatch.setattr(parts, "drawn_token", lambda key: page.word)
    page.word = parts.token()
    return page


def test_the_word_that_the_trees_are_drawn_brings_the_rest_once(page):
    assert page.word is not None and parts.charted() is None
    parts.follow()
    assert page.ran == [[parts.STAGE, parts.CHARTS]] and parts.token() is None
    assert parts.charted() == session.current()


def test_a_late_word_about_trees_long_gone_brings_nothing(page):
    session.change(seed=4)
    parts.follow()
    assert page.ran == [] and parts.charted() is None and parts.token() not in (None, page.word)


def test_a_word_sent_under_the_url_of_yesterday_keeps_the_settings_of_today(page):
    session.change(seed=4)
    session.finish()
    page.query_params.from_dict({"seed": "3"})  # what comes with a message that was sent before
    parts.follow()
    assert session.begin().seed == 4


def test_an_address_changed_by_hand_is_still_news(page):
    page.query_params.from_dict({"seed": "9"})
    assert session.begin().seed == 9


def test_charts_stopped_half_drawn_are_begun_again_by_whatever_stopped_them(page):
    parts.follow()
    parts.make_up(parts.SETTINGS)
    assert page.ran[1:] == [[parts.SETTINGS, parts.CHARTS]]
    parts.charts_drawn(session.current())
    parts.make_up(parts.SETTINGS)
    assert len(page.ran) == 2


def test_a_widget_that_says_what_it_always_said_moves_nothing(page):
    bound = session.bind("sharpness")
    session.restart(session.current().but(sharpness=0.8))
    page.session_state[bound["key"]] = 2.5  # the browser has not heard of 0.8 yet
    bound["on_change"]()
    assert session.current().sharpness == 0.8
    again = session.bind("sharpness")
    assert again["key"] != bound["key"] and page.session_state[again["key"]] == 0.8
    page.session_state[again["key"]] = 1.5
    again["on_change"]()
    assert session.current().sharpness == 1.5 and session.bind("sharpness")["key"] == again["key"]
