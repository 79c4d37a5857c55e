"""The views on recorded text, the tour, files in and out, in a real Chromium."""

import json
from urllib.parse import parse_qsl, urlsplit

import networkx as nx
import pytest

from eagle_viz import POLICIES, SyntheticLandscape, compare
from eagle_viz.core import recording
from eagle_viz.core.reliability import Observations, observe, reliability
from eagle_viz.core.replay import replay, tau
from eagle_viz.ui.tour import STOPS
from tests.browser.conftest import settled, wait_until_still

EAGLE2 = POLICIES["eagle2"]()


@pytest.fixture(scope="module")
def name():
    names = sorted(recording.shipped(), key=lambda name: (name.startswith("oracle"), name))
    assert names, "models/recordings ships recordings"
    return names[0]


def read(name):
    """A shipped recording as the page reads it."""
    return recording.read(recording.shipped()[name]).for_greedy()


@pytest.fixture
def view(open_page, lab_url):
    """Open a view and wait for something of it."""

    def opened(query, wait, **options):
        page = open_page(f"{lab_url}/?{query}", **options)
        page.locator(wait).first.wait_for()
        return page

    return opened


def test_the_answer_is_there_with_its_cycles_and_tau(view, name):
    rec = read(name)
    page = view(f"view=text&recording={name}", ".reader .cycle")
    assert page.locator(".reader .cycle").count() == len(rec.cycles)
    assert (
        page.locator(".reader .text").evaluate("e => e.querySelectorAll('sup').forEach(s => s.remove()) ?? e.textContent")
        == rec.answer
    )
    passes = [replay(cycle, EAGLE2(cycle.landscape, 25).tree) for cycle in rec.cycles]
    shown = page.get_by_test_id("tau-dynamic").inner_text()
    assert f"{tau(passes)[0]:.2f}" in shown
    assert rec.drafter == "oracle" or f"{tau(passes)[1]:.2f}" in shown
    assert page.errors == []


def test_a_chosen_cycle_is_on_the_stage_and_in_the_link(view, name):
    rec = read(name)
    page = view(f"view=text&recording={name}", ".reader .cycle")
    page.locator(".reader .cycle").nth(1).locator(".token").first.click()
    page.wait_for_function("location.search.includes('position=1')")
    pair = compare(rec.cycles[1].landscape, 25, "eagle1", EAGLE2)
    settled(page, "stage-dynamic-expected", f"{pair.dynamic.tree.expected_accepted:.2f}")
    wait_until_still(page)
    assert page.get_by_test_id("stage-dynamic-expected").inner_text() == f"{pair.dynamic.tree.expected_accepted:.2f}"
    page.locator(".reader .cycle.selected").press("ArrowLeft")
    page.wait_for_function("!location.search.includes('position=1')")


PLACE = """() => {
  const host = [...document.querySelectorAll('.st-key-stage *')].find((one) => one.shadowRoot);
  return host.shadowRoot.querySelector('[data-testid=stage]').getBoundingClientRect().top;
}"""
IN_SIGHT = f"() => Math.abs(({PLACE})()) < 40"


@pytest.mark.parametrize(("width", "motion"), [(1280, "no-preference"), (390, "reduce")])
def test_an_opened_pass_brings_its_trees_into_sight_and_an_arrow_key_stays_in_the_text(view, name, width, motion):
    """A click and Enter scroll to the stage, each time anew; the focus stays on the pass, and an arrow key scrolls nothing."""
    page = view(f"view=text&recording={name}", ".reader .cycle", width=width, height=844, reduced_motion=motion)
    wait_until_still(page)
    assert page.evaluate(PLACE) > 200
    page.locator(".reader .cycle").nth(1).locator(".token").first.click()
    page.wait_for_function(IN_SIGHT)
    wait_until_still(page)
    assert page.evaluate(IN_SIGHT) and "position=1" in page.url
    page.locator(".reader .cycle.selected").evaluate("one => one.scrollIntoView({block: 'center', behavior: 'instant'})")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.search.includes('position=2')")
    wait_until_still(page)
    assert page.evaluate(PLACE) > 200
    page.keyboard.press("Enter")
    page.wait_for_function(IN_SIGHT)
    wait_until_still(page)
    assert page.evaluate(IN_SIGHT)
    assert page.locator(".reader .cycle.selected").evaluate("one => one === one.getRootNode().activeElement")


def test_pointing_at_a_row_of_the_pass_lights_its_ancestors(view, name):
    rec = read(name)
    tree = EAGLE2(rec.cycles[0].landscape, 25).tree
    page = view(f"view=pass&recording={name}", ".rows tbody tr")
    assert page.locator(".rows tbody tr").count() == len(tree)
    assert page.locator(".rows .mask rect:not(.hit)").count() == int(tree.mask().sum())
    last = len(tree) - 1
    page.locator(f".rows tr[data-row='{last}']").hover()
    lit = page.locator(".rows tr.lit").evaluate_all("rows => rows.map(row => Number(row.dataset.row))")
    assert lit == tree.ancestry(last)
    assert page.locator(".rows g.here").get_attribute("data-row") == str(last)


def test_the_calibration_error_is_the_cores(view, name):
    drafter = read(name).drafter
    recs = [rec for rec in map(read, recording.shipped()) if rec.drafter == drafter]
    parts = []
    for cycle in (cycle for rec in recs for cycle in rec.cycles):
        tree = EAGLE2(cycle.landscape, 25).tree
        parts.append(observe(cycle.landscape, tree, cycle.verdict(tree)))
    page = view(f"view=confidence&recording={name}", "[data-testid=ece]")
    assert f"{reliability(Observations.join(parts)).ece:.3f}" in page.get_by_test_id("ece").inner_text()


def test_speed_and_the_table_by_text(view, name):
    page = view(f"view=speed&recording={name}", "[data-testid=bought]")
    drafter = read(name).drafter
    texts = [rec for rec in map(read, recording.shipped()) if rec.drafter == drafter]
    assert page.get_by_test_id("bought").locator("tr").count() == len(texts) + 2
    assert "plain decoding" in page.get_by_test_id("speed-dynamic").inner_text()


MOST = """most => [...document.querySelectorAll('.st-key-stage *')]
  .some((host) => host.shadowRoot?.querySelector('[data-testid=stage-budget]')?.max === most)"""


def test_the_tour_drives_the_controls_and_is_left_and_resumed(view):
    page = view("", "[data-testid=stage]")
    page.get_by_role("button", name="Take the tour").click()
    page.get_by_text(STOPS[0].title).wait_for()
    page.wait_for_function("location.search.includes('step=4')")
    assert page.get_by_test_id("stage-step").input_value() == "4"
    page.get_by_role("button", name="Next stop").click()
    page.get_by_text(STOPS[1].title).wait_for()
    page.get_by_role("button", name="Leave").click()
    page.get_by_role("button", name="Resume the tour").click()
    page.get_by_text(STOPS[1].title).wait_for()


def test_leaving_the_tour_leaves_the_stage_where_it_was(view):
    """The stage is mounted anew when the tour's card goes; what one did in it holds."""
    page = view("tour=2", "[data-testid=stage]")
    wait_until_still(page)
    page.get_by_test_id("stage-budget").evaluate(
        "e => { e.value = 40; for (const name of ['input', 'change']) e.dispatchEvent(new Event(name, {bubbles: true})); }"
    )
    page.get_by_test_id("stage-back").click()
    page.wait_for_function("location.search.includes('step=39')")
    wait_until_still(page)
    before = page.get_by_test_id("stage-dynamic-expected").inner_text()
    page.get_by_role("button", name="Leave").click()
    page.get_by_role("button", name="Resume the tour").wait_for()
    wait_until_still(page)
    assert (page.get_by_test_id("stage-step").input_value(), page.get_by_test_id("stage-budget").input_value()) == ("39", "40")
    assert page.get_by_test_id("stage-dynamic-expected").inner_text() == before
    assert {"budget": "40", "step": "39"}.items() <= dict(parse_qsl(urlsplit(page.url).query)).items()


def test_budgets_up_to_512_stay_within_reach_when_their_drawer_is_shut(view):
    page = view("", "[data-testid=stage]")
    page.get_by_text("More settings").click()
    page.get_by_text("Budgets up to 512").click()
    page.wait_for_function(MOST, arg="512")
    page.get_by_text("More settings").click()
    wait_until_still(page)
    page.get_by_role("button", name="Redraw").click()
    wait_until_still(page)
    assert page.evaluate(MOST, "512")
    page.get_by_text("More settings").click()
    assert page.get_by_role("switch", name="Budgets up to 512").is_checked()


def test_a_stop_of_the_tour_has_its_whole_picture_in_sight(view):
    page = view("tour=1", "[data-testid=stage]")
    assert page.get_by_test_id("stage-step").input_value() == "4"
    inside = "e => e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().bottom <= innerHeight"
    for part in (page.get_by_test_id("tour-stop"), page.locator(".board")):
        page.wait_for_function(inside, arg=part.element_handle())


def test_graphml_downloads_and_reads_back(view, tmp_path):
    page = view("seed=3", "[data-testid=stage]")
    page.get_by_text("Take it with you").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="EAGLE-2, 25 nodes").click()
    waiting.value.save_as(tmp_path / "tree.graphml")
    graph = nx.read_graphml(tmp_path / "tree.graphml")
    tree = EAGLE2(SyntheticLandscape(3), 25).tree
    assert len(graph) == 26 and graph.graph["expected_accepted"] == pytest.approx(tree.expected_accepted, abs=0)


def test_the_stages_json_loads_back_to_the_same_picture(view, tmp_path):
    page = view("seed=8&budget=20", "[data-testid=stage]")
    before = page.get_by_test_id("stage-gain").inner_text()
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as waiting:
        page.get_by_test_id("stage-save-json").click()
    waiting.value.save_as(tmp_path / "trees.json")
    page = view("seed=99", "[data-testid=stage]")
    page.get_by_text("Take it with you").click()
    page.locator("input[type=file]").set_input_files(tmp_path / "trees.json")
    page.wait_for_function("location.search.includes('source=file')")
    page.get_by_text("EAGLE-2 (file)").first.wait_for()
    settled(page, "stage-gain", before)
    wait_until_still(page)
    assert page.get_by_test_id("stage-gain").inner_text() == before
    (tmp_path / "bad.json").write_text(json.dumps({"version": 7}))
    page.locator("input[type=file]").set_input_files(tmp_path / "bad.json")
    page.get_by_text("no acceptance numbers found in it").wait_for()
    assert dict(parse_qsl(urlsplit(page.url).query))["source"] == "file"


@pytest.mark.parametrize("query", ["", "view=text", "view=pass", "view=confidence", "view=speed", "tour=3"])
def test_the_rules_of_axe_hold_in_light_and_dark_and_no_view_scrolls_sideways_on_a_phone(view, query):
    """One load of each view: what the page adds keeps axe's rules in both themes, and fits a screen of 390 px."""
    page = view(query, ".st-key-lab")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        wait_until_still(page)
        assert not (broken := broken_rules(page)), (scheme, broken)
    page.set_viewport_size({"width": 390, "height": 844})
    wait_until_still(page)
    widths = page.evaluate("[...document.querySelectorAll('html, [data-testid=stMain]')].map(e => e.scrollWidth)")
    assert max(widths) <= 390 and page.errors == []


def broken_rules(page):
    """axe's rules that what the page adds breaks, with the elements."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [(rule["id"], [node["html"][:160] for node in rule["nodes"]]) for rule in found if rule["id"] not in STREAMLITS]


STREAMLITS = {"landmark-one-main", "region", "page-has-heading-one", "aria-hidden-focus", "presentation-role-conflict"}
"""Rules about the frame that Streamlit draws around every page, and about its own file uploader."""
