"""The whole page run without a browser: every view, hostile links, and what it must not import."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from eagle_viz.ui.presets import PRESETS
from eagle_viz.ui.settings import VIEWS
from eagle_viz.ui.stops import STOPS, settings_at
from tests.ui.pages import APP, opened, said, settings_of


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_runs(view):
    assert not opened(view=view).exception


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_runs(preset):
    app = opened(preset=preset)
    assert not app.exception and settings_of(app).preset == preset


@pytest.mark.parametrize("stop", range(1, len(STOPS) + 1))
def test_every_stop_of_the_tour_runs_and_leaves(stop):
    app = opened(tour=str(stop))
    assert not app.exception and settings_of(app).tour == stop
    if stop < len(STOPS):
        app.button(key="tour_leave").click().run()
        assert not app.exception and settings_of(app).tour == 0
        app.button(key="tour_start").click().run()
        assert settings_of(app).tour == stop


@pytest.mark.parametrize(
    "query",
    [
        {"source": "levels", "levels": "0.9 0.9"},
        {"source": "levels", "levels": "\x00\x00"},
        {"view": "text", "recording": "../../etc/passwd", "position": "99999"},
        {"view": "pass", "position": "7.5"},
        {"static": "max_sweep", "dynamic": "chain", "budget": "128", "branching": "2"},
        {"dynamic": "max_sweep", "view": "speed"},
        {"seed": "4294967295", "sharpness": "0.1", "coverage": "0.05", "top_k": "1", "max_depth": "1", "budget": "128"},
    ],
)
def test_odd_links_end_in_sentences_not_in_exceptions(query):
    assert not opened(**query).exception


def test_a_changed_setting_reaches_the_link_and_a_changed_link_reaches_the_settings():
    app = opened(seed="12")
    app.slider(key="set_branching").set_value(7).run()
    assert app.query_params["branching"] in ("7", ["7"])
    app.query_params["seed"] = "13"
    app.run()
    assert settings_of(app).seed == 13


def test_the_page_opens_without_torch_transformers_or_networkx():
    code = (
        "import sys; from streamlit.testing.v1 import AppTest; "
        f"app = AppTest.from_file({APP!r}, default_timeout=60).run(); "
        "assert not app.exception; print([name for name in ('torch', 'transformers', 'networkx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=Path(APP).parent)
    assert done.stdout.strip().splitlines()[-1] == "[]", done.stderr[-2000:]


def test_an_ablation_wider_than_was_recorded_is_one_sentence():
    chosen = {"ladder": "ablation", "all_recordings": False}
    app = opened(state=chosen, view="confidence", dynamic="best_first", top_k="20")
    assert not app.exception and "top_k: 20 given" in said(app)


@pytest.mark.parametrize("view", ["text", "confidence"])
def test_recorded_text_offers_no_setting_of_synthetic_landscapes(view):
    app = opened(view=view)
    closed = [widget.label for widget in app.slider]
    app.session_state["more"] = True  # the drawer is pulled
    app.run()
    labels = [widget.label for widget in (*app.toggle, *app.slider)]
    assert any("top_k" in label for label in labels) and not any("top_k" in label for label in closed)
    assert not any("512" in label or "Coverage" in label for label in labels)


def test_a_link_written_at_a_stop_shows_what_was_made_of_it_not_the_stop_as_it_began():
    app = opened(tour="3")
    assert settings_of(app).sharpness == 0.8
    app.slider(key="set_sharpness").set_value(2.5).run()
    again = opened(**{name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()})
    assert settings_of(again) == settings_of(app)


def test_below_the_trees_stands_what_their_numbers_leave_out():
    """Hand levels that EAGLE-1's paths do not fit, and a beam too narrow for the budget: both are said where the trees stand."""
    page = said(opened(source="levels", levels="0.9 0.1 / 0.8", budget="25"))
    assert "of the 25 drawn here 17 come from our continuation" in page
    page = said(opened(top_k="1"))
    assert "EAGLE-1 shape has 25 nodes, EAGLE-2 6;" in page


def test_pass_times_of_ones_own_come_from_the_link_and_go_back_into_it():
    app = opened(view="speed", times="1:10 64:10 draft:0")
    assert "your own times" in said(app)
    (field,) = (area for area in app.text_area if "Pass times" in area.label)
    assert field.value == "1:10 64:10 draft:0"
    # Where a larger pass costs nothing more, the speed against plain decoding is the number of tokens a pass.
    pairs = re.findall(r"([\d.]+) times plain decoding with ([\d.]+) tokens", said(app))
    assert len(pairs) == 2 and all(speed == tokens for speed, tokens in pairs)
    assert "No draft: time" not in said(app) and "more than 64 positions were not measured" in said(app)
    # Draft passes cost nothing here either, so stopping them early changes nothing.
    (early,) = re.findall(r"passes at [^,]*, ([\d.]+) times plain", said(app))
    assert early == pairs[1][0]
    field.set_value("1:10 128:10").run()
    assert "No draft: time is given, so draft passes count as free." in said(app)
    other = opened(view="speed", times="1:10 128:10", recording="oracle-fact")
    assert "fastest at 128 nodes, the largest budget looked at" in said(other)
    field.set_value("1:10 x").run()
    assert dict(app.query_params)["times"] in ("1:10 128:10", ["1:10 128:10"]) and "times: '1:10 x' given, allowed is" in said(app)
    assert re.search(r"fastest at \d+ nodes", said(app)) and "The picture stays as it was." in said(app)
    (field,) = (area for area in app.text_area if "Pass times" in area.label)
    assert field.value == "1:10 x"


def test_the_tour_ends_on_a_setting_that_pays():
    """At the last stop EAGLE-2 is faster than plain decoding at the very budget that the stop sets."""
    page = said(opened(tour=str(len(STOPS))))
    budget = settings_at(len(STOPS)).budget
    (speed,) = re.findall(rf"EAGLE-2</b>.*? At {budget} nodes it gets [\d.]+ tokens a pass and ([\d.]+) times the speed", page)
    assert float(speed) > 1.2


def test_the_card_of_many_seeds_says_whose_gain_it_shows():
    """It always compares the same two policies, and says so where the trees above it are others."""
    assert "whatever is chosen above" not in said(opened())
    assert "always EAGLE-2 against EAGLE-1, whatever is chosen above" in said(opened(static="eagle2", dynamic="best_first"))
