"""How long the stage takes: script and layout of each redraw, measured in the browser by the browser's own clock."""

from __future__ import annotations

import statistics

import pytest

from eagle_viz import POLICIES, SyntheticLandscape, compare
from tests.browser.stage_reading import read, stage_url

# Each value is set as a held slider sets it; the clock stops after a forced layout, so script, style and layout are all in.
TIME = """([id, values]) => {
  const host = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('[data-testid=stage]'));
  const root = host.shadowRoot;
  const input = root.querySelector(`[data-testid=${id}]`);
  const board = root.querySelector('[data-testid=stage]');
  return values.map((value) => {
    const began = performance.now();
    input.value = value;
    input.dispatchEvent(new Event('input', {bubbles: true}));
    board.getBoundingClientRect();
    root.querySelector('.marks').getBBox();
    return performance.now() - began;
  });
}"""
FRAMES = """(values) => new Promise((done) => {
  const host = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('[data-testid=stage]'));
  const input = host.shadowRoot.querySelector('[data-testid=stage-budget]');
  const seen = [];
  const next = (i) => requestAnimationFrame((now) => {
    if (i > 0) seen.push(host.shadowRoot.querySelectorAll('[data-tree=dynamic]').length === values[i - 1] ? 1 : 0);
    if (i === values.length) return done(seen);
    input.value = values[i];
    input.dispatchEvent(new Event('input', {bubbles: true}));
    next(i + 1);
  });
  next(0);
})"""


def p95(times):
    return statistics.quantiles(times, n=20)[-1]


def told(name, times):
    print(f"{name}: p50 {statistics.median(times):.1f} ms, p95 {p95(times):.1f} ms, worst {max(times):.1f} ms of {len(times)}")
    return times


def redraws(page, control, values):
    """What each redraw costs: the least of four rounds, because a busy machine adds to some rounds and slow code to all of them."""
    rounds = [page.evaluate(TIME, [control, values]) for _ in range(4)]
    return [min(times) for times in zip(*rounds, strict=True)]


def best_round(measure, score, limit):
    """The best of up to five rounds, for what only makes sense as a round."""
    rounds = []
    for _ in range(5):
        rounds.append(measure())
        if score(rounds[-1]) <= limit:
            break
    return min(rounds, key=score)


@pytest.mark.parametrize(
    ("control", "values"), [("stage-step", [*range(0, 61), *range(60, -1, -1)]), ("stage-budget", [*range(33, 65)] * 2)]
)
def test_a_redraw_at_60_nodes_takes_less_than_a_frame(stage, control, values):
    page = stage("budget=60")
    assert p95(told(f"{control} at 60 nodes", redraws(page, control, values))) <= 16.7


def test_a_drag_over_every_budget_draws_each_by_the_next_frame(stage):
    page = stage("budget=25")
    assert page.evaluate(FRAMES, list(range(2, 126, 3))) == [1] * 42


@pytest.mark.parametrize(("control", "values"), [("stage-step", list(range(440, 500))), ("stage-budget", list(range(300, 360)))])
def test_a_redraw_at_500_nodes_stays_fluid(stage, control, values):
    page = stage("budget=500&max=512&dynamic=best_first")
    assert len(read(page)["dynamic"]) == 500
    assert p95(told(f"{control} at 500 nodes", redraws(page, control, values))) <= 50


DRAG = """([low, high, count]) => new Promise((done) => {
  const host = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('[data-testid=stage]'));
  const root = host.shadowRoot;
  const input = root.querySelector('[data-testid=stage-sharpness]');
  const shown = root.querySelector('[data-testid=stage-dynamic-expected]');
  const waits = [];
  let last = null;
  const watch = new MutationObserver(() => { if (last !== null) { waits.push(performance.now() - last); last = null; } });
  watch.observe(shown, {childList: true, characterData: true, subtree: true});
  let i = 0;
  const tick = setInterval(() => {
    input.value = low + ((high - low) * (i + 1)) / count;
    input.dispatchEvent(new Event('input', {bubbles: true}));
    last ??= performance.now();
    if (++i < count) return;
    clearInterval(tick);
    input.dispatchEvent(new Event('change', {bubbles: true}));
    setTimeout(() => done({waits, final: shown.textContent}), 1500);
  }, 40);
})"""


def test_sharpness_redraws_from_python_while_it_is_dragged(stage):
    page = stage("budget=25&live=1&sharpness=0.8")
    answers = []

    def sweep():
        answers.append(page.evaluate(DRAG, [0.8, 3.2, 50]))
        return answers[-1]["waits"]

    waits = told("sharpness, from the hand's move to the redraw", best_round(sweep, statistics.median, 100))
    assert len(waits) >= 6 and statistics.median(waits) <= 100
    last = compare(SyntheticLandscape(seed=11, sharpness=3.2), 25, "eagle1", POLICIES["eagle2"](max_depth=12))
    assert answers[-1]["final"] == f"{last.dynamic.tree.expected_accepted:.2f}"


def test_the_first_tree_is_on_screen_within_three_seconds(open_page, serve):
    def load():
        page = open_page(stage_url(serve))
        page.wait_for_selector("[data-testid=stage] [data-tree]", state="attached")
        return [page.evaluate("performance.now()")] * 2

    assert told("first tree on screen", best_round(load, max, 3000))[0] < 3000
