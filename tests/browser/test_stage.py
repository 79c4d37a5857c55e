"""Laws of the stage, in a real Chromium against the real component."""

from eagle_viz import POLICIES, SyntheticLandscape, compare
from eagle_viz.core.tree import path_name
from tests.browser.stage_reading import READ, drag_to, glided, inside, outside, part, read


def test_it_opens_on_the_numbers_of_compare(stage):
    page = stage("budget=25")
    pair = compare(SyntheticLandscape(seed=11), 25, POLICIES["eagle1"](), POLICIES["eagle2"](max_depth=12))
    seen = read(page)
    for i, (side, draft) in enumerate((("static", pair.static), ("dynamic", pair.dynamic))):
        worth = dict(zip(draft.tree.paths, draft.tree.values.tolist(), strict=True))
        assert {path: node[2] for path, node in seen[side].items()} == {path_name(path): worth[path] for path in draft.order}
        assert seen["expected"][i] == float(f"{draft.tree.expected_accepted:.2f}")
    assert seen["gain"] == f"+{pair.gain * 100:.0f}%" and "25 of 25" in seen["phase"]
    assert page.errors == [] and outside(page) == []


def test_a_step_keeps_one_more_node_in_both_trees_and_moves_none(stage):
    page = stage("step=10")
    before = read(page)
    part(page, "stage-next").click()
    after = read(page)
    for side in ("static", "dynamic"):
        assert len(before[side]) == 10 and len(after[side]) == 11
        assert {path: after[side][path] for path in before[side]} == before[side]
    assert after["expected"][0] > before["expected"][0] and after["expected"][1] > before["expected"][1]
    assert after["sentence"] != before["sentence"] and "is kept" in after["sentence"]


def test_back_undoes_next_exactly_and_first_and_last_reach_the_ends(stage):
    page = stage("step=10")
    before = read(page)
    part(page, "stage-next").click()
    part(page, "stage-back").click()
    assert read(page) == before
    part(page, "stage-first").click()
    empty = read(page)
    assert (empty["static"], empty["expected"], empty["gain"]) == ({}, [0, 0], "0%")
    part(page, "stage-back").click()
    assert read(page) == empty
    part(page, "stage-last").click()
    assert len(read(page)["dynamic"]) == 25


def test_dragging_the_budget_redraws_during_the_drag_and_moves_nothing_within_a_tier(stage):
    page = stage("budget=12")
    before = read(page)
    for budget in (13, 20, 32):
        during = drag_to(page, "stage-budget", budget)
        assert len(during["static"]) == len(during["dynamic"]) == budget and during["step"] == str(budget)
        for side in ("static", "dynamic"):
            assert {path: during[side][path] for path in before[side]} == before[side]


def test_crossing_a_tier_glides_by_identity_and_keeps_every_node(stage):
    page = stage("budget=32")
    before = read(page)
    drag_to(page, "stage-budget", 40)
    after = glided(page)
    assert len(after["dynamic"]) == 40 and set(before["dynamic"]) <= set(after["dynamic"])


def test_scrubbing_steps_both_trees_alike(stage):
    page = stage("budget=25")
    for step in (3, 17, 0, 25):
        seen = drag_to(page, "stage-step", step)
        assert len(seen["static"]) == len(seen["dynamic"]) == step


def test_python_hears_of_a_release_and_a_preset_is_followed(stage):
    page = stage("budget=25")
    drag_to(page, "stage-budget", 30)
    part(page, "stage-budget").dispatch_event("change")
    page.get_by_text("python sees budget 30 step 30").wait_for()
    assert read(page)["budget"] == "30"
    page.get_by_role("button", name="preset").click()
    page.get_by_text("python sees budget 10 step 10").wait_for()
    assert len(read(page)["dynamic"]) == 10


def test_zoom_and_pan_survive_a_step_a_budget_change_and_a_report(stage):
    page = stage("budget=25")
    part(page, "stage-zoom-in").click()
    part(page, "stage-zoom-in").click()
    before = read(page)
    part(page, "stage-back").click()
    drag_to(page, "stage-budget", 28)
    part(page, "stage-budget").dispatch_event("change")
    page.get_by_text("python sees budget 28").wait_for()
    after = read(page)
    assert {path: after["dynamic"][path] for path in before["dynamic"]} == before["dynamic"]
    part(page, "stage-fit").click()
    assert read(page)["dynamic"]["0"] != before["dynamic"]["0"]


def test_a_drag_beyond_what_python_has_sent_asks_for_it_and_arrives(stage):
    page = stage("budget=25&static=max_sweep&dynamic=best_first")
    drag_to(page, "stage-budget", 40)
    page.get_by_text("python sees budget 40 step 40").wait_for()
    page.wait_for_function(f"() => ({READ})().budget === '40'")
    seen = read(page)
    assert len(seen["static"]) == len(seen["dynamic"]) == 40
    pair = compare(SyntheticLandscape(seed=11), 40, "max_sweep", "best_first")
    assert seen["expected"] == [float(f"{draft.tree.expected_accepted:.2f}") for draft in (pair.static, pair.dynamic)]


def test_what_is_looked_at_stays_by_its_path_when_the_landscape_changes(stage):
    page = stage("budget=25&live=1")
    spot = read(page)["dynamic"]["0.0"]
    page.mouse.click(spot[0], spot[1])
    part(page, "stage-sharpness").evaluate("(e) => { e.value = 2.0; e.dispatchEvent(new Event('change', {bubbles: true})); }")
    page.wait_for_function(f"(before) => ({READ})().expected[1] !== before", arg=read(page)["expected"][1])
    looked = inside(page, "return [...root.querySelectorAll('[data-tree].looked')].map((e) => e.dataset.path)")
    assert looked == ["0.0", "0.0"]
