"""Keys, linked looking, zoom, stability, phases, verify, labels, access: interaction.md section 3, line by line."""

from __future__ import annotations

import re

import pytest

from eagle_viz import POLICIES, SyntheticLandscape, compare
from eagle_viz.core.readout import wasted_nodes
from eagle_viz.core.tree import path_name
from tests.browser.conftest import settled
from tests.browser.stage_reading import drag_to, glided, inside, part, read, until

OVERLAPS = """
  const texts = [...root.querySelectorAll('[data-tree] text, .root text')].filter((e) => e.textContent
    && getComputedStyle(e).visibility === 'visible');
  const boxes = texts.map((e) => ({e, box: e.getBoundingClientRect()}));
  const marks = [...root.querySelectorAll('[data-tree] .mark')].map((e) => ({e, box: e.getBoundingClientRect()}));
  const hit = (a, b) => a.left < b.right - 1.5 && b.left < a.right - 1.5 && a.top < b.bottom - 4 && b.top < a.bottom - 4;
  const pairs = [];
  const name = (e) => e.textContent || e.parentNode.dataset.path;
  const note = (one, two) => hit(one.box, two.box) && pairs.push([name(one.e), name(two.e)]);
  boxes.forEach((one, i) => boxes.slice(i + 1).forEach((two) => note(one, two)));
  boxes.forEach((one) => marks.forEach((two) => one.e.parentNode !== two.e.parentNode && note(one, two)));
  return {count: boxes.length, pairs};"""


# -- keys -----------------------------------------------------------------------------------------------------------------


def test_arrows_step_home_and_end_jump_space_plays_and_all_are_listed(drawn):
    page = drawn(budget=12)
    for key, step in (("ArrowLeft", 11), ("ArrowLeft", 10), ("ArrowRight", 11), ("Home", 0), ("End", 12)):
        page.keyboard.press(key)
        assert read(page)["step"] == str(step)
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    assert part(page, "stage-play").get_attribute("aria-pressed") == "true"
    until(page, "Number(root.querySelector('[data-testid=stage-step]').value) > 0")
    page.keyboard.press("Space")
    stopped = read(page)["step"]
    assert 0 < int(stopped) < 12
    inside(page, "return new Promise((done) => setTimeout(done, 450))")
    assert read(page)["step"] == stopped
    part(page, "stage-keys-toggle").click()
    assert all(word in part(page, "stage-keys").inner_text() for word in ("Home", "End", "Space", "step"))


@pytest.mark.parametrize("panel", ["table", "keys", "share-menu"])
def test_escape_shuts_a_panel_and_gives_the_focus_back(drawn, panel):
    page = drawn(budget=12)
    button = {"table": "stage-table-toggle", "keys": "stage-keys-toggle", "share-menu": "stage-share"}[panel]
    part(page, button).click()
    assert part(page, f"stage-{panel}").is_visible()
    if panel != "keys":
        page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert not part(page, f"stage-{panel}").is_visible() and part(page, button).get_attribute("aria-pressed") == "false"
    assert page.evaluate("document.activeElement.dataset.testid") == button


@pytest.mark.parametrize("width", [1280, 390])
def test_the_height_of_the_stage_does_not_depend_on_the_step(drawn, width):
    page = drawn(page={"width": width})
    heights = set()
    for step in (0, 1, 2, 12, 25):
        drag_to(page, "stage-step", step)
        heights.add(page.get_by_test_id("stage").bounding_box()["height"])
    assert len(heights) == 1


def test_keys_are_inert_while_typing_and_when_another_control_has_the_focus(stage):
    page = stage("budget=12&step=6")
    page.get_by_label("a field").click()
    for key in ("ArrowLeft", "Home", "End", "Space"):
        page.keyboard.press(key)
    page.get_by_role("button", name="preset").focus()
    page.keyboard.press("ArrowLeft")
    assert read(page)["step"] == "6"
    page.mouse.click(1270, 300)
    page.keyboard.press("ArrowLeft")
    assert read(page)["step"] == "5"
    part(page, "stage-budget").focus()
    page.keyboard.press("ArrowLeft")
    assert (read(page)["budget"], read(page)["step"]) == ("11", "11")


def test_playing_steps_to_the_end_and_stops_there(stage):
    page = stage("budget=6&step=2")
    part(page, "stage-speed").select_option("4")
    part(page, "stage-play").click()
    page.get_by_text("python sees budget 6 step 6").wait_for()
    assert part(page, "stage-play").get_attribute("aria-pressed") == "false" and len(read(page)["static"]) == 6


# -- zoom and stability -----------------------------------------------------------------------------------------------------


def spread(page):
    xs = [node[0] for node in read(page)["dynamic"].values()]
    return max(xs) - min(xs)


def test_the_wheel_zooms_only_with_a_modifier_and_dragging_pans_both_trees_alike(drawn):
    page = drawn()
    before, wide = read(page), spread(page)
    page.locator("svg.tree").first.hover(position={"x": 300, "y": 60})
    page.mouse.wheel(0, -100)
    assert spread(page) == wide
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    glided(page)
    assert spread(page) > wide * 1.2
    part(page, "stage-fit").click()
    assert read(page)["dynamic"] == before["dynamic"]
    box = page.locator("svg.tree").first.bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 340, box["y"] + 90, steps=4)
    page.mouse.up()
    moved = read(page)
    for side in ("static", "dynamic"):
        shifts = {(moved[side][path][0] - node[0], moved[side][path][1] - node[1]) for path, node in before[side].items()}
        assert all(abs(dx - 40) <= 1 and abs(dy - 30) <= 1 for dx, dy in shifts)


def test_zoom_survives_a_change_of_theme_and_a_resize(stage):
    page = stage("budget=25")
    part(page, "stage-zoom-in").click()
    zoomed = spread(page)
    page.emulate_media(color_scheme="dark")
    until(page, "root.querySelector('[data-testid=stage]').dataset.theme === 'dark'")
    assert spread(page) == zoomed
    at_first = part(page, "stage").bounding_box()["width"]
    for width in (1180, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        until(page, f"root.querySelector('[data-testid=stage]').getBoundingClientRect().width === {at_first - 1280 + width}")
        glided(page)
    assert abs(spread(page) - zoomed) <= 1


PLACE = """const mark = root.querySelector('[data-tree=dynamic][data-path="0"]');
  window.mark ??= mark;
  return [mark.getAttribute('transform'), mark === window.mark];"""
FRAME = 20


def glide(drawn, **options):
    """Where node 0 is after each of 20 frames since the budget crossed into another tier, and whether it is the same element.

    The page's clock is the test's own, 20 ms a frame, so a busy machine draws the same frames.
    """
    page = drawn(budget=32, page=options | {"fresh": True})
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    seen = [inside(page, PLACE)]
    drag_to(page, "stage-budget", 40)
    for _ in range(20):
        seen.append(inside(page, PLACE))
        page.clock.run_for(FRAME)
    return seen


def test_crossing_a_tier_glides_by_identity_in_under_300_ms(drawn):
    places = [place for place, same in glide(drawn) if same]
    assert len(places) == 21 and len(set(places)) > 8
    assert places[1 + 300 // FRAME] == places[-1] != places[0]


def test_with_reduced_motion_nothing_glides(drawn):
    _, *after = glide(drawn, reduced_motion="reduce")
    assert len({place for place, _ in after}) == 1


# -- looking ------------------------------------------------------------------------------------------------------------------


def tips(page):
    return inside(page, "return [...root.querySelectorAll('.tip')].map((e) => e.hidden ? null : e.textContent)")


def test_hover_lights_the_same_path_in_both_trees_the_way_to_the_root_and_spells_the_product(drawn):
    page = drawn()
    here = read(page)["static"]["0.0.0"]
    page.mouse.move(here[0], here[1])
    lit = "return [...root.querySelectorAll(`.panel.${side} .node.lit`)].map((e) => e.dataset.path)"
    for side in ("static", "dynamic"):
        assert inside(page, f"const side = '{side}'; {lit}") == ["0", "0.0", "0.0.0"]
    draft = POLICIES["eagle1"]()(SyntheticLandscape(seed=11), 25).tree
    odds = [float(draft.confidences[draft.index[path]]) for path in ((0,), (0, 0), (0, 0, 0))]
    product = f"{' × '.join(f'{one:.2f}' for one in odds)} = {draft.values[draft.index[(0, 0, 0)]]:.2f}"
    assert all(product in tip for tip in tips(page))
    page.mouse.move(5, 5)
    assert tips(page) == [None, None]


def test_a_node_that_the_other_tree_lacks_is_absent_there_for_hover_and_tap(drawn):
    page = drawn(page={"has_touch": True})
    seen = read(page)
    lone = next(path for path in seen["static"] if path not in seen["dynamic"])
    page.touchscreen.tap(*seen["static"][lone][:2])
    static, dynamic = tips(page)
    assert lone in static and dynamic == "not in this tree"
    settled(page, "stage-live", "only in the tree of EAGLE-1 shape")


def test_the_trees_are_one_tab_stop_each_and_arrows_walk_them(drawn):
    page = drawn()
    page.locator("svg.tree").nth(1).focus()
    focusable = inside(page, "return root.querySelectorAll('svg.tree[tabindex], svg.tree [tabindex]').length")
    walked = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown"):
        page.keyboard.press(key)
        walked.append(page.locator("svg.tree").nth(1).get_attribute("aria-activedescendant"))
    assert focusable == 2 and walked == ["dynamic-0", "dynamic-0.0", "dynamic-0", "dynamic-1"]
    assert read(page)["step"] == "25"
    settled(page, "stage-live", "1: 0.21")


def test_shared_and_lone_nodes_differ_in_shape_and_are_counted(drawn):
    page = drawn()
    seen = read(page)
    shared = set(seen["static"]) & set(seen["dynamic"])
    shapes = """const of = (e) => ['rx', 'width'].map((name) => Number(e.querySelector('.mark').getAttribute(name)))
      .reduce((rx, width) => 2 * rx / width);
      return Object.fromEntries([...root.querySelectorAll('[data-tree=dynamic]')].map((e) => [e.dataset.path, of(e) > 0.95]));"""
    assert {path for path, round_one in inside(page, shapes).items() if round_one} == shared
    counts = inside(page, "return [...root.querySelectorAll('.counts')].map((e) => e.textContent)")
    assert counts == [f"{len(shared)} in both trees, {25 - len(shared)} only in this one"] * 2


# -- phases and verify ----------------------------------------------------------------------------------------------------------


def test_phases_expand_layer_by_layer_with_nothing_kept_then_rerank_from_the_first_node(drawn):
    page = drawn()
    part(page, "stage-mode-phases").click()
    draft = POLICIES["eagle2"](max_depth=12)(SyntheticLandscape(seed=11), 25)
    ghosts = "return [...root.querySelectorAll('[data-ghost]')].filter((e) => e.getAttribute('display') !== 'none').length"
    shown = []
    for layer in range(draft.passes):
        seen = read(page)
        assert seen["phase"] == f"Expand · layer {layer + 1} of {draft.passes}" and seen["static"] == seen["dynamic"] == {}
        assert seen["expected"] == [0, 0]
        shown.append(inside(page, ghosts))
        part(page, "stage-next").click()
    assert shown == sorted(shown) and shown[-1] == draft.pool.budget
    assert read(page)["phase"] == "Rerank · step 0 of 25"
    before = glided(page)
    part(page, "stage-next").click()
    after = read(page)
    assert len(after["dynamic"]) == 1 and before["dynamic"] == {} and inside(page, ghosts) == draft.pool.budget - 1
    part(page, "stage-back").click()
    part(page, "stage-back").click()
    assert read(page)["phase"] == f"Expand · layer {draft.passes} of {draft.passes}"


def test_verify_lights_an_accepted_path_and_its_mean_nears_the_expected_number(drawn):
    page = drawn()
    part(page, "stage-mode-verify").click()
    seen = drag_to(page, "stage-step", 1000)
    assert seen["phase"] == "Verify · roll 1000 of 1000" and len(seen["dynamic"]) == 25
    means = [float(number) for number in re.search(r"mean so far ([\d.]+) against ([\d.]+)", seen["sentence"]).groups()]
    assert all(abs(mean - expected) < 0.25 for mean, expected in zip(means, seen["expected"], strict=True))
    lit = "return [...root.querySelectorAll('[data-tree=dynamic].accepted')].map((e) => e.dataset.path)"
    for roll in range(1, 8):
        drag_to(page, "stage-step", roll)
        path = inside(page, lit)
        assert [len(one.split(".")) for one in path] == list(range(1, len(path) + 1))
        assert all(after.startswith(f"{before}.") for before, after in zip(path, path[1:], strict=False))


def test_a_recorded_verdict_is_walked_and_says_why_it_stops(drawn):
    page = drawn(budget=5, source="real", static="chain", dynamic="best_first")
    part(page, "stage-mode-verify").click()
    part(page, "stage-last").click()
    seen = read(page)
    assert "Best-first (exact): 2 accepted; the target then says “⏎”, " in seen["sentence"]
    beside = page.locator(".panel.static .caption").inner_text()
    assert "Chain: 1 accepted; the target then says “<b>bold</b>”, guess number 2 with confidence" in beside
    accepted = inside(page, "return [...root.querySelectorAll('[data-tree=dynamic].accepted')].map((e) => e.dataset.path)")
    rejected = inside(page, "return [...root.querySelectorAll('[data-tree=dynamic].rejected')].map((e) => e.dataset.path)")
    assert accepted == ["0", "0.1"] and set(rejected) == {"1", "0.0"}


# -- reading --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", [{}, {"seed": 7, "dynamic": "best_first"}, {"source": "words"}])
def test_labels_never_overlap_at_60_nodes_and_more_of_them_appear_when_zoomed(drawn, of):
    page = drawn(budget=60, **of)
    fitted = inside(page, OVERLAPS)
    assert fitted["pairs"] == [] and fitted["count"] > 55
    part(page, "stage-zoom-in").click()
    part(page, "stage-zoom-in").click()
    zoomed = inside(page, OVERLAPS)
    assert zoomed["pairs"] == [] and zoomed["count"] > fitted["count"]


def test_labels_are_there_at_every_budget_of_a_policy_that_chooses_anew_at_each(drawn):
    page = drawn(budget=25, static="max_sweep", dynamic="best_first", tier=32)
    visible = """return [...root.querySelectorAll('[data-tree=static] .value')]
      .filter((e) => getComputedStyle(e).visibility === 'visible').length"""
    for budget in (25, 20, 9):
        drag_to(page, "stage-budget", budget)
        assert inside(page, visible) >= 0.7 * budget


def test_tokens_show_their_white_space_keep_markup_inert_and_are_cut_with_the_rest_on_hover(drawn):
    page = drawn(budget=6, source="real", static="chain", dynamic="best_first")
    texts = inside(page, "return [...root.querySelectorAll('[data-tree=dynamic] .token')].map((e) => e.textContent)")
    assert {"␣the", "⏎", "<b>bold</b>"} <= set(texts) and any(text.endswith("…") for text in texts)
    assert inside(page, "return root.querySelectorAll('img, .node b, .sentence i').length") == 0
    here = read(page)["dynamic"]["0.0"]
    page.mouse.move(here[0], here[1])
    assert "␣incomprehensibilities" in tips(page)[1] and page.errors == []


def test_at_390_pixels_the_trees_stack_without_sideways_scroll_and_every_control_is_24_pixels(stage):
    page = stage("budget=25&live=1", width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    boxes = [page.locator("svg.tree").nth(i).bounding_box() for i in (0, 1)]
    assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"] and all(box["x"] + box["width"] <= 390 for box in boxes)
    small = inside(
        page,
        """return [...root.querySelectorAll('button, select, input')].filter((e) => e.getClientRects().length)
      .map((e) => [e.dataset.testid, e.getBoundingClientRect()])
      .filter(([, box]) => box.width < 24 || box.height < 24 || box.right > 390).map(([name]) => name)""",
    )
    assert small == []


def test_the_table_holds_the_nodes_on_the_screen(drawn):
    page = drawn(step=9)
    part(page, "stage-table-toggle").click()
    seen = read(page)
    rows = inside(page, "return [...root.querySelectorAll('tbody tr')].map((tr) => [...tr.cells].map((td) => td.textContent))")
    assert {row[0] for row in rows} == set(seen["static"]) | set(seen["dynamic"])
    assert {row[0] for row in rows if row[-1] == "kept"} == set(seen["dynamic"])
    part(page, "stage-next").click()
    assert len(inside(page, "return [...root.querySelectorAll('tbody tr')].map((tr) => 1)")) >= len(rows)


CONTRAST = """
  const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const light = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = light(getComputedStyle(root.querySelector('[data-testid=stage]')).getPropertyValue('--paper'));
  const ratio = (a) => (Math.max(a, paper) + 0.05) / (Math.min(a, paper) + 0.05);
  const isShown = (e) => e.getClientRects().length && getComputedStyle(e).visibility === 'visible';
  const shown = [...root.querySelectorAll('text')].filter(isShown);
  return Math.min(...shown.map((e) => ratio(light(getComputedStyle(e).fill))));"""


def test_text_has_contrast_and_the_rules_of_axe_hold_in_light_and_dark(stage):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    for scheme in ("light", "dark"):
        page = stage("budget=25&live=1&mode=verify&step=25", color_scheme=scheme)
        part(page, "stage-next").click()
        for drawer in ("stage-table-toggle", "stage-keys-toggle", "stage-share"):
            part(page, drawer).click()
        assert inside(page, CONTRAST) >= 4.5
        found = axe.Axe().run(page).response
        ours = [node["html"][:120] for rule in found["violations"] for node in rule["nodes"] if "stBidi" in str(node["target"])]
        checked = [node for rule in found["passes"] for node in rule["nodes"] if "stBidi" in str(node["target"])]
        assert ours == [] and len(checked) > 20


def test_the_wasted_static_nodes_are_counted_and_can_be_shown(drawn):
    page = drawn()
    pair = compare(SyntheticLandscape(seed=11), 25, "eagle1", POLICIES["eagle2"](max_depth=12))
    wasted = {path_name(path) for path in wasted_nodes(pair.static, pair.dynamic)}
    assert part(page, "stage-wasted").inner_text().startswith(f"{len(wasted)} nodes of EAGLE-1 shape wasted")
    assert set(inside(page, "return [...root.querySelectorAll('.node.wasted')].map((e) => e.dataset.path)")) == wasted
    part(page, "stage-wasted").click()
    strong = """[...root.querySelectorAll('[data-tree=static]')]
      .filter((e) => getComputedStyle(e.querySelector('.mark')).opacity > 0.9).map((e) => e.dataset.path)"""
    until(page, f"{strong}.length === {len(wasted)}")
    assert set(inside(page, f"return {strong}")) == wasted
