"""The page in a real Chromium: what it shows is what the core computes, a link reopens it, and no link breaks it."""

import os
import re
import statistics
from urllib.parse import parse_qsl, urlsplit

import pytest

from eagle_viz import POLICIES, RankLandscape, SyntheticLandscape, compare
from eagle_viz.commands import main
from eagle_viz.core.readout import wasted_nodes
from eagle_viz.ui.settings import MISCONCEPTION
from eagle_viz.ui.world import parse_levels
from tests.browser.conftest import settled, wait_until_still
from tests.browser.test_stage_speed import DRAG, best_round, told

EAGLE2 = POLICIES["eagle2"]()


@pytest.fixture
def lab(open_page, lab_url):
    """Open the page with a query string and wait until the stage stands."""

    def opened(query="", **options):
        page = open_page(f"{lab_url}/?{query}", **options)
        page.get_by_test_id("stage-gain").wait_for()
        return page

    return opened


FIRST_TREE, REDRAW, HELD = 3000, 300, 100
"""The aims in milliseconds: address to first tree, a widget to the new trees, sharpness held to the new trees (p50)."""
SLACK = 2.5
"""How far above an aim a slower or busier machine may be; every test prints what it reaches."""


def crowded():
    """How many processes want each core, 1 on a quiet machine: limits on waiting are stretched by it."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def number(page, name):
    """The number an element shows: of a card with a title, what stands below it."""
    element = page.get_by_test_id(name)
    element.wait_for()
    below = element.locator("p")
    text = below.first.inner_text() if below.count() else element.inner_text()
    return float(re.search(r"[-+−]?[\d.]+", text).group().replace("−", "-"))


def readouts(page):
    return [number(page, f"stage-{name}") for name in ("static-expected", "dynamic-expected", "gain")]


def shown(pair):
    static, dynamic = pair.static.tree.expected_accepted, pair.dynamic.tree.expected_accepted
    return [round(static, 2), round(dynamic, 2), round(100 * pair.gain)]


def test_it_opens_on_a_landscape_where_eagle2_visibly_wins(lab):
    page = lab()
    assert readouts(page)[:2] == [0, 0]
    page.get_by_test_id("intro-play").click()
    settled(page, "stage-phase", "step 1")
    page.get_by_test_id("stage-last").click()
    pair = compare(SyntheticLandscape(seed=61, sharpness=2.5), 25, "eagle1", EAGLE2)
    assert readouts(page) == shown(pair)
    assert 20 <= number(page, "stage-gain") <= 45
    assert page.errors == []
    assert number(page, "readout-wasted") == len(wasted_nodes(pair.static, pair.dynamic))


def test_the_page_and_an_exported_player_show_the_same_numbers_of_a_seed(lab, open_page, tmp_path):
    """One default depth everywhere: what ``export --seed 61`` writes and what the page shows of seed 61 agree."""
    written = tmp_path / "player.html"
    assert main(["export", "--seed", "61", "--to", str(written)]) == 0
    player = open_page(written.as_uri())
    player.get_by_test_id("stage-gain").wait_for()
    assert readouts(player) == readouts(lab("seed=61&view=lab"))


@pytest.mark.parametrize(
    "query,land,static,dynamic,budget",
    [
        ("seed=7&sharpness=1.3&branching=6&budget=40", SyntheticLandscape(7, 1.3, 6), "eagle1", EAGLE2, 40),
        (
            "seed=9&static=best_static&dynamic=best_first&max_depth=5",
            SyntheticLandscape(9),
            "best_static",
            POLICIES["best_first"](5),
            25,
        ),
        ("seed=9&coverage=0.8&top_k=3&max_depth=4", SyntheticLandscape(9, coverage=0.8), "eagle1", POLICIES["eagle2"](3, 4), 25),
        ("source=levels&levels=0.5+0.2/0.4+0.3&budget=9", RankLandscape([[0.5, 0.2], [0.4, 0.3]]), "eagle1", EAGLE2, 9),
    ],
)
def test_the_readouts_are_compares_numbers(lab, query, land, static, dynamic, budget):
    assert readouts(lab(query)) == shown(compare(land, budget, static, dynamic))


def test_a_link_reopens_the_same_picture(lab):
    page = lab("seed=12&sharpness=1.7&budget=30&step=11&static=chain")
    before = readouts(page), page.get_by_test_id("stage-step").input_value(), page.get_by_test_id("stage-budget").input_value()
    again = lab(urlsplit(page.url).query)
    after = readouts(again), again.get_by_test_id("stage-step").input_value(), again.get_by_test_id("stage-budget").input_value()
    assert before == after and before[1:] == ("11", "30")


def test_what_is_changed_on_the_page_is_in_the_link(lab):
    page = lab("seed=12")
    page.get_by_role("button", name="Redraw").click()
    page.wait_for_function("!location.search.includes('seed=12')")
    page.get_by_test_id("stage-next").click()
    page.get_by_test_id("stage-first").click()
    page.wait_for_function("location.search.includes('step=0')")
    query = dict(parse_qsl(urlsplit(page.url).query))
    assert query["step"] == "0" and query["seed"].isdigit()
    again = lab(urlsplit(page.url).query)
    assert readouts(again)[:2] == [0, 0]


HOSTILE = (
    "seed=-1&sharpness=1e999&budget=abc&static=%3Cimg+src=x+onerror=alert(1)%3E&top_k=nan&levels=%22%3E%3Cb%3E&foo=1&position=-9"
)


def test_hostile_values_are_clamped_and_said(lab):
    page = lab(HOSTILE)
    said = page.get_by_test_id("url-notes").inner_text()
    for name in ("seed", "sharpness", "budget", "static", "top_k", "position"):
        assert f"{name}: " in said and "allowed is" in said
    assert "'foo' is not a setting" in said and "<img src=x" in said
    assert readouts(page) == shown(compare(SyntheticLandscape(0, sharpness=4), 25, "eagle1", EAGLE2))
    assert page.errors == [] and page.get_by_test_id("stException").count() == 0


@pytest.mark.parametrize("levels", ["0.2+0.9", "abc", "", "2", "/"])
def test_levels_that_make_no_landscape_get_one_sentence(open_page, lab_url, levels):
    page = open_page(f"{lab_url}/?source=levels&levels={levels}")
    page.get_by_test_id("page-sentence").first.wait_for()
    said = page.get_by_test_id("page-sentence").first.inner_text()
    assert any(word in said for word in ("allowed", "needed", "is not a number"))
    assert page.get_by_test_id("stException").count() == 0


def test_a_pool_smaller_than_the_budget_says_what_to_raise(lab):
    page = lab("top_k=1&max_depth=6")
    assert page.get_by_text("raise top_k").first.is_visible()
    assert readouts(page)[1] == round(
        compare(SyntheticLandscape(61), 6, "chain", POLICIES["eagle2"](1, 6)).dynamic.tree.expected_accepted, 2
    )


def test_nothing_leaves_localhost(lab):
    page = lab(fresh=True)
    wait_until_still(page)
    hosts = {urlsplit(address).hostname for address in page.requests if not address.startswith(("data:", "blob:"))}
    assert hosts == {"127.0.0.1"}


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_a_phone_has_no_sideways_scroll_and_the_stage_first(lab, color_scheme):
    page = lab(width=390, height=844, color_scheme=color_scheme)
    wait_until_still(page)
    widths = page.evaluate("[...document.querySelectorAll('html, [data-testid=stMain]')].map(e => e.scrollWidth)")
    assert max(widths) <= 390
    stage, settings = page.get_by_test_id("stage").bounding_box(), page.locator(".st-key-settings").bounding_box()
    assert stage["y"] < settings["y"] and stage["x"] >= 0 and stage["x"] + stage["width"] <= 390


def test_the_three_presets_do_what_they_say(lab):
    page = lab("seed=5")
    page.get_by_role("button", name="Flat, 0.8").click()
    settled(page, "stage-dynamic-expected", "2.88")
    flat = readouts(page)
    assert flat == shown(compare(SyntheticLandscape(61, sharpness=0.8), 25, "eagle1", EAGLE2)) and flat[2] == 4
    page.get_by_role("button", name="Safest tree").click()
    settled(page, "stage-dynamic-expected", "2.57")
    pair = compare(parse_levels(MISCONCEPTION), 4, "max_sweep", POLICIES["best_first"](6))
    assert readouts(page) == shown(pair) and readouts(page)[:2] == [1.0, 2.57]
    settled(page, "readout-branch", "0.40")
    assert "1.00" in page.get_by_test_id("readout-branch").inner_text()
    page.get_by_role("button", name="Sharp, 2.5").click()
    settled(page, "stage-dynamic-expected", "5.47")
    assert page.get_by_test_id("loaded-preset").is_visible()


def test_the_last_of_two_quick_clicks_holds(lab):
    """The browser's word that the first trees are drawn, sent before it heard of the second click, undoes nothing."""
    page = lab("view=lab")
    for _ in range(4):
        page.get_by_role("button", name="Flat, 0.8").click()
        settled(page, "stage-dynamic-expected", "2.88")
        page.get_by_role("button", name="Safest tree").click()
        settled(page, "stage-dynamic-expected", "2.57")
        wait_until_still(page)
        assert readouts(page) == [1.0, 2.57, 157] and urlsplit(page.url).query == "preset=sweep"


def test_a_click_on_the_curve_moves_the_budget(lab):
    page = lab("view=lab")
    chart = page.get_by_test_id("stage-curve")
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] * 63.5 / 128, "y": box["height"] / 2})
    page.wait_for_function("location.search.includes('budget=')")
    budget = int(dict(parse_qsl(urlsplit(page.url).query))["budget"])
    assert 62 <= budget <= 66
    wait_until_still(page)
    assert page.get_by_test_id("stage-budget").input_value() == str(budget)
    assert readouts(page) == shown(compare(SyntheticLandscape(61), budget, "eagle1", EAGLE2))


def test_the_budget_let_go_in_the_stage_moves_the_charts(lab):
    page = lab("view=lab")
    slider = page.get_by_test_id("stage-budget")
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_function("location.search.includes('budget=26')")
    pair = compare(SyntheticLandscape(61), 26, "eagle1", EAGLE2)
    settled(page, "readout-wasted", "of 26")
    assert number(page, "readout-wasted") == len(wasted_nodes(pair.static, pair.dynamic))


@pytest.mark.speed
def test_the_first_tree_is_there_soon(open_page, lab_url):
    """From the address to the tree, in a session of its own; of three openings the fastest counts: others may want the cores."""
    times = []
    for seed in (77, 78, 79):
        page = open_page(f"{lab_url}/?seed={seed}", fresh=True)
        page.get_by_test_id("stage-gain").wait_for()
        times.append(page.evaluate("performance.now()"))
        page.close()
    print(f"first tree: {min(times):.0f} ms, {crowded():.1f} processes a core")
    assert min(times) < FIRST_TREE * SLACK * crowded(), times


WATCH = """wanted => {
  const host = [...document.querySelectorAll('.st-key-stage *')].find((one) => one.shadowRoot);
  const number = host.shadowRoot.querySelector('[data-testid=stage-dynamic-expected]');
  window.redrawn = null;
  addEventListener('keydown', () => (window.pressed = performance.now()), { capture: true, once: true });
  const watch = new MutationObserver(() => {
    if (!number.textContent.includes(wanted)) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => (window.redrawn = performance.now() - window.pressed)));
  });
  watch.observe(number, { childList: true, characterData: true, subtree: true });
}"""
"""Times a redraw in the page itself, from the key that asks for it to the frame that shows it."""


@pytest.mark.speed
def test_a_parameter_that_needs_python_redraws_soon(lab):
    page = lab("view=lab")
    wait_until_still(page)
    times = []
    for seed in range(300, 320):
        wanted = f"{compare(SyntheticLandscape(seed), 25, 'eagle1', EAGLE2).dynamic.tree.expected_accepted:.2f}"
        box = page.get_by_role("spinbutton", name="Seed")
        box.fill(str(seed))
        if f"{number(page, 'stage-dynamic-expected'):.2f}" == wanted:
            continue  # nothing would be seen to change
        page.evaluate(WATCH, wanted)
        box.press("Enter")
        page.wait_for_function("window.redrawn !== null")
        times.append(page.evaluate("window.redrawn"))
        wait_until_still(page)  # the charts follow the trees; nobody types the next seed while they are drawn
    # Twenty times make a poor percentile: one hiccup of the machine is p95. It is printed; the median has to hold.
    middle, p95 = statistics.median(times), sorted(times)[int(0.95 * len(times)) - 1]
    print(f"redraw: p50 {middle:.0f} ms, p95 {p95:.0f} ms, fastest {min(times):.0f} ms, {crowded():.1f} processes a core")
    assert middle <= REDRAW * SLACK * crowded(), times


@pytest.mark.speed
def test_sharpness_held_in_the_stage_redraws_soon_and_ends_on_the_newest(lab):
    page = lab("seed=11&sharpness=0.8")
    page.locator(".st-key-card-population .main-svg").first.wait_for()
    answers = []

    def sweep():
        answers.append(page.evaluate(DRAG, [0.8, 3.2, 50]))
        return answers[-1]["waits"]

    waits = told("sharpness held, whole page", best_round(sweep, statistics.median, HELD))
    assert statistics.median(waits) <= HELD * SLACK
    last = compare(SyntheticLandscape(11, sharpness=3.2), 25, "eagle1", EAGLE2)
    assert answers[-1]["final"] == f"{last.dynamic.tree.expected_accepted:.2f}"
    page.wait_for_function("location.search.includes('sharpness=3.2')")


def test_the_trees_do_not_wait_for_the_charts_which_follow_every_change(open_page, lab_url):
    """The charts' library is held back by the test until the trees are there."""
    page, held = open_page("about:blank", fresh=True), []
    page.route("**/*PlotlyChart*", lambda request: held.append(request))
    page.goto(f"{lab_url}/?seed=21")
    page.locator("[data-testid=stage] [data-tree]").first.wait_for(state="attached")
    while not held:
        page.wait_for_timeout(50)
    assert page.locator(".main-svg").count() == 0
    for request in held:
        request.continue_()
    page.unroute("**/*PlotlyChart*")
    page.locator(".st-key-card-population .main-svg").first.wait_for()
    page.get_by_role("spinbutton", name="Seed").fill("22")
    page.get_by_role("spinbutton", name="Seed").press("Enter")
    pair = compare(SyntheticLandscape(22), 25, "eagle1", EAGLE2)
    settled(page, "stage-dynamic-expected", f"{pair.dynamic.tree.expected_accepted:.2f}")
    settled(page, "readout-wasted", f"{len(wasted_nodes(pair.static, pair.dynamic))} of 25")


@pytest.mark.parametrize("touched", ["More settings", "Take it with you", "step"])
def test_charts_that_were_stopped_half_drawn_come_all_the_same(lab, touched):
    """What changes no setting runs a part of the page again, and stops whatever was running."""
    page = lab("view=lab")
    for seed in (41, 42):
        wait_until_still(page)
        page.get_by_role("spinbutton", name="Seed").fill(str(seed))
        page.get_by_role("spinbutton", name="Seed").press("Enter")
        pair = compare(SyntheticLandscape(seed), 25, "eagle1", EAGLE2)
        settled(page, "stage-dynamic-expected", f"{pair.dynamic.tree.expected_accepted:.2f}")
        page.wait_for_timeout(150)
        (page.get_by_test_id("stage-back") if touched == "step" else page.get_by_text(touched)).click()
        page.get_by_test_id("stage-last").click()
        settled(page, "readout-wasted", f"{len(wasted_nodes(pair.static, pair.dynamic))} of 25")


@pytest.mark.parametrize("options", ["hide=header,settings,intro,charts", "hide=charts"])
def test_parts_can_be_hidden_for_embedding(lab, options):
    page = lab(f"embed=true&{options}&seed=4")
    assert not page.get_by_test_id("stage-curve").is_visible()
    assert (page.locator(".st-key-settings").count() == 0) == ("settings" in options)
    assert (page.locator(".st-key-header").count() == 0) == ("header" in options)
    assert readouts(page) == shown(compare(SyntheticLandscape(4), 25, "eagle1", EAGLE2))
