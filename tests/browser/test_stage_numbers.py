"""The numbers and charts below the trees: what the core computes, at every step and budget, in the frame that draws it."""

import pytest

from eagle_viz import POLICIES, SyntheticLandscape, compare
from eagle_viz.core.readout import budget_curve, per_depth, sweep_probability, wasted_nodes
from eagle_viz.core.tree import path_name
from tests.browser.stage_reading import drag_to, inside, part, read

EAGLE1, EAGLE2 = POLICIES["eagle1"](), POLICIES["eagle2"](max_depth=12)
FACTS = """return Object.fromEntries(['wasted', 'branch', 'deepest', 'draft'].map((name) =>
  [name, root.querySelector(`[data-testid=readout-${name}] p`).textContent]))"""
KEY = "return [...root.querySelectorAll('.card.CARD .key b')].map((e) => e.textContent)"
BARS = """const {height} = root.querySelector('.card.depth .rule').ownerSVGElement.getBBox();
  const box = (side) => [...root.querySelectorAll(`.card.depth .bar.${side}`)].map((e) => Number(e.getAttribute('height')));
  const rules = [...root.querySelectorAll('.card.depth .rule')].map((e) => Number(e.getAttribute('d').match(/ ([\\d.]+)H/)[1]));
  const unit = Math.max(...rules) - Math.min(...rules);
  return ['static', 'dynamic'].map((side) => box(side).map((h) => h / unit));"""
WHEN = "return root.querySelector('[data-testid=stage-when]').textContent"


def part_text(name):
    return f"return root.querySelector('[data-testid={name}]').textContent"


def pair_at(budget):
    return compare(SyntheticLandscape(seed=11), budget, EAGLE1, EAGLE2)


@pytest.mark.parametrize("step", [0, 1, 7, 12, 25])
def test_the_numbers_below_the_trees_are_those_of_the_step(drawn, step):
    """A nested policy's tree at step s is its tree at budget s; the draft passes are those of the whole budget."""
    page = drawn()
    drag_to(page, "stage-step", step)
    pair, whole = pair_at(step), pair_at(25)
    found = inside(page, FACTS)
    assert found["wasted"] == f"{len(wasted_nodes(pair.static, pair.dynamic))} of {step}"
    assert found["branch"] == f"{sweep_probability(pair.static.tree):.2f} {sweep_probability(pair.dynamic.tree):.2f}"
    assert found["deepest"] == f"{pair.static.tree.depth} {pair.dynamic.tree.depth}"
    assert found["draft"] == f"{whole.static.passes} {whole.dynamic.passes}"
    assert inside(page, WHEN) == ("Numbers at the full budget of 25" if step == 25 else f"Numbers at step {step} of 25")


def test_the_bars_are_the_expected_tokens_of_each_level_of_the_step(drawn):
    """The height of a bar is its level's share of the axis, whose top is 1."""
    page = drawn()
    for step in (25, 6):
        drag_to(page, "stage-step", step)
        pair = pair_at(step)
        for bars, draft in zip(inside(page, BARS), (pair.static, pair.dynamic), strict=True):
            levels = per_depth(draft.tree).tolist()
            levels += [0] * (len(bars) - len(levels))
            assert bars == pytest.approx(levels, abs=0.01)


def test_the_curve_reads_the_budget_under_the_pointer_and_a_click_sets_it(drawn):
    """The key shows the two curves at the budget pointed at, the page the trees of the budget clicked."""
    page = drawn()
    part(page, "stage-curve").scroll_into_view_if_needed()
    box = part(page, "stage-curve").bounding_box()
    across = box["x"] + 30 + (box["width"] - 64) * 64 / 128
    page.mouse.move(across, box["y"] + 60)
    curves = [budget_curve(policy, SyntheticLandscape(seed=11), 128)[64] for policy in (EAGLE1, EAGLE2)]
    assert inside(page, KEY.replace("CARD", "curve")) == [f"{value:.2f}" for value in curves]
    page.mouse.down()
    page.mouse.up()
    assert read(page)["budget"] == "64" and len(read(page)["dynamic"]) == 64
    page.mouse.move(5, 5)
    assert inside(page, WHEN) == "Numbers at the full budget of 64"


def test_a_budget_is_a_price_and_dragging_either_moves_the_other(drawn):
    """The price is the smallest product that EAGLE-2 keeps; outlined are the nodes of EAGLE-1's shape that are worth less."""
    page, key = drawn(), part_text("stage-price-key")
    for budget in (25, 40):
        drag_to(page, "stage-budget", budget)
        pair = pair_at(budget)
        assert inside(page, key).endswith(f"{min(pair.dynamic.tree.values[1:]):.2f}")
        outlined = "return [...root.querySelectorAll('.node.wasted')].map((e) => e.dataset.path)"
        assert set(inside(page, outlined)) == {path_name(path) for path in wasted_nodes(pair.static, pair.dynamic)}
    part(page, "stage-price").scroll_into_view_if_needed()
    plot, knob = part(page, "stage-curve").bounding_box(), part(page, "stage-price").locator(".knob").bounding_box()
    page.mouse.move(knob["x"] + 4, knob["y"] + knob["height"] / 2)
    page.mouse.down()
    page.mouse.move(knob["x"] + 4, plot["y"] + 10 + (plot["height"] - 34) / 3, steps=5)  # a tenth: one power of three is a third
    page.mouse.up()
    budget = int(read(page)["budget"])
    tree, one_more = pair_at(budget).dynamic.tree, pair_at(budget + 1).dynamic.tree
    assert min(tree.values[1:]) > 0.095 and min(one_more.values[1:]) < 0.105
    page.keyboard.press("ArrowUp")
    assert read(page)["budget"] == str(budget - 1)
    page.keyboard.press("PageDown")
    assert read(page)["budget"] == str(budget + 9)


def test_a_policy_that_does_not_keep_the_largest_products_has_no_price(drawn):
    """A chain leaves better candidates beside it, so no price says what it keeps."""
    page = drawn(dynamic="chain")
    assert part(page, "stage-price").count() == 0 and not part(page, "stage-price-key").is_visible()


def test_a_side_that_python_traced_at_some_budgets_only_has_no_line_between_them(drawn):
    """A curve shows no number that nobody computed: an untraced budget is a gap."""
    page = drawn(budget=200, static="max_sweep", dynamic="best_first", tier=256)
    lines = inside(page, "return [...root.querySelectorAll('.card.curve .line')].map((e) => e.getAttribute('d'))")
    assert lines[0].count("M") == 2 and "L" not in lines[0]
    assert lines[1].count("M") == 1 and lines[1].count("L") == 256


def test_the_numbers_can_be_left_out(stage):
    """An embedded stage without charts shows the trees alone."""
    page = stage("budget=25&charts=0")
    assert not page.locator(".numbers").is_visible()
