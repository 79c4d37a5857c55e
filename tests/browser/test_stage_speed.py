"""How long the stage takes: script and layout of each redraw, measured in the browser by the browser's own clock."""

from __future__ import annotations

import statistics
import time

import pytest

from eagle_viz import POLICIES, SyntheticLandscape, compare
from tests.browser.stage_reading import read, stage_url

pytestmark = pytest.mark.speed
FIND = """([id]) => {
  const host = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('[data-testid=stage]'));
  const root = host.shadowRoot;
  const parts = {input: root.querySelector(`[data-testid=${id}]`), board: root.querySelector('[data-testid=stage]')};
  window.redraw = (value) => {
    parts.input.value = value;
    parts.input.dispatchEvent(new Event('input', {bubbles: true}));
    parts.board.getBoundingClientRect();
    root.querySelector('.marks').getBBox();
  };
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
    """Milliseconds of script, style and layout for each redraw of a held slider, by the processor time of the page's thread.

    Processor time is what the code costs: on an idle machine it is the time that passes, on a busy one waiting does not count.
    """
    page.evaluate(FIND, [control])
    metrics = page.context.new_cdp_session(page)
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent():
        found = {one["name"]: one["value"] for one in metrics.send("Performance.getMetrics")["metrics"]}
        return 1000 * (found["ScriptDuration"] + found["LayoutDuration"] + found["RecalcStyleDuration"])

    times = [spent()]
    for value in values:
        page.evaluate("(value) => window.redraw(value)", value)
        times.append(spent())
    return [after - before for before, after in zip(times, times[1:], strict=False)]


def strain():
    """How many times longer than its processor time a piece of work takes right now: 1 on an idle machine."""
    began, spent = time.perf_counter(), time.process_time()
    while time.process_time() - spent < 0.1:
        sum(range(10_000))
    return max(1.0, (time.perf_counter() - began) / (time.process_time() - spent))


def best_round(measure, score, limit):
    """The best of up to four rounds, each divided by the strain on the machine before and after it."""
    rounds = []
    for _ in range(4):
        before, times = strain(), measure()
        rounds.append([one * 2 / (before + strain()) for one in times])
        if score(rounds[-1]) <= limit:
            break
    return min(rounds, key=score)


STEPS = [*range(20, 61), *range(60, 40, -1)]
BUDGETS = [*range(33, 65), *range(64, 40, -1)]


@pytest.mark.parametrize(("control", "values"), [("stage-step", STEPS), ("stage-budget", BUDGETS)])
def test_a_redraw_at_60_nodes_takes_less_than_a_frame(stage, control, values):
    page = stage("budget=60")
    assert p95(told(f"{control} at 60 nodes", redraws(page, control, values))) <= 16.7


def test_a_drag_over_every_budget_draws_each_by_the_next_frame(stage):
    page = stage("budget=25")
    assert page.evaluate(FRAMES, list(range(2, 126, 3))) == [1] * 42


@pytest.mark.parametrize(("control", "values"), [("stage-step", list(range(460, 500))), ("stage-budget", list(range(300, 340)))])
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
