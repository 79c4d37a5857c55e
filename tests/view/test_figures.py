"""Charts show the numbers they are given, one look, and never a number of their own."""

import numpy as np
import pytest

from eagle_viz.core.distortion import Lie
from eagle_viz.core.ladder import Rung
from eagle_viz.core.population import population
from eagle_viz.core.reliability import Observations, bins_of_equal_width, by_depth, reliability
from eagle_viz.core.sureness import Sureness
from eagle_viz.view import figures, speed_figures

STATIC, DYNAMIC = np.array([0, 0.5, 0.8, 1.0]), np.array([0, 0.6, 1.1, 1.5])


def marks(figure):
    return [(trace.x[0], trace.y[0]) for trace in figure.data if trace.type == "scatter" and "markers" in trace.mode]


def inks(trace):
    table = trace.to_plotly_json()
    return {table.get("line", {}).get("color"), table.get("marker", {}).get("color")} - {None, "rgba(0,0,0,0)"}


def lines(figure):
    return {trace.name: np.asarray(trace.y) for trace in figure.data if trace.type == "scatter" and "lines" in trace.mode}


def test_gains_are_in_percent_and_the_current_sharpness_is_labelled():
    rows = [population(sharpness, seeds=range(20)) for sharpness in (1.0, 2.0)]
    figure = figures.gain_against_sharpness(rows, rows[1])
    shown = lines(figure)["over EAGLE-1's shape"]
    np.testing.assert_allclose(shown, [100 * row.gain_over_eagle1 for row in rows])
    labels = [trace.text[0] for trace in figure.data if trace.text]
    assert labels == [f"{100 * rows[1].gain_over_eagle1:+.0f} %", f"{100 * rows[1].gain_over_static:+.0f} %"]


def test_one_look():
    figure = figures.speed_curve(STATIC, DYNAMIC, 2, ("A", "B"))
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert set().union(*map(inks, figure.data)) <= {figures.GRAY, figures.BLUE, figures.INK}


OBSERVED = Observations(
    confidence=np.array([0.1, 0.2, 0.8, 0.9]),
    chance=np.array([0.1, 0.2, 0.8, 0.9]),
    target=np.array([0.1, 0.1, 0.7, 1.0]),
    accepted=np.array([False, False, True, True]),
    depth=np.array([1, 1, 1, 2]),
    rank=np.array([1, 2, 0, 0]),
)


def test_the_reliability_diagram_shows_each_bin_with_its_interval():
    found = reliability(OBSERVED, bins=2)
    dots = next(trace for trace in figures.reliability(found).data if trace.name == "accepted")
    assert list(dots.y) == [0.0, 1.0] and list(dots.customdata) == [2, 2]
    np.testing.assert_allclose(np.array(dots.y) - dots.error_y.arrayminus, [b.low for b in found.bins])
    np.testing.assert_allclose(np.array(dots.y) + dots.error_y.array, [b.high for b in found.bins])


def test_no_bar_of_equal_width_stands_without_its_count():
    """Each bar has the interval and, above it, the number of tokens that it stands for."""
    found = bins_of_equal_width(OBSERVED, bins=5)
    bars, ticks, counts = figures.reliability_by_width(found).data
    assert list(bars.x) == list(counts.x) == list(found) == [0.1, 0.3, 0.9]
    assert list(counts.text) == ["1", "1", "2"] and list(bars.customdata) == [1, 1, 2]
    np.testing.assert_allclose(np.maximum(np.array(bars.y) + bars.error_y.array, ticks.y), counts.y)
    np.testing.assert_allclose(ticks.y, [0.1, 0.2, 0.85])


def test_acceptance_by_level_is_the_groups_means():
    figure = figures.acceptance_by(by_depth(OBSERVED), "level")
    confidence, accepted, target, counts = figure.data
    assert list(counts.text) == ["3", "1"] and list(counts.y) == [pytest.approx(1.1 / 3), 1.0]
    assert list(confidence.x) == [1, 2] and accepted.y[1] == 1.0 and accepted.customdata[0] == 3
    np.testing.assert_allclose(target.y, [0.3, 1.0])


def test_the_ladder_leaves_out_what_was_not_measured():
    rungs = [Rung("eagle1", "EAGLE-1", 2.0, 1.8, 1.9, 5, 3), Rung("eagle2", "EAGLE-2", 2.5, 2.2, float("nan"), 6, 3)]
    names = [trace.name for trace in figures.ladder(rungs, ["a", "b"], accepted=False).data]
    assert names == ["target's probabilities", "drafter's estimate"]
    assert list(figures.ladder(rungs, ["a", "b"]).data[0].x) == [1.8, 2.2]


def test_the_speed_curve_names_each_best_budget_off_the_curves():
    """The words stand in the legend, so that none lies on a curve; a dot marks the place; without a gain nothing is named best."""
    figure = figures.speed_curve(np.array([1, 1.5, 1.2]), np.array([1, 1.3, 1.6]), 1, ("A", "B"))
    assert list(lines(figure)) == ["A, best: 1", "B, best: 2"] and marks(figure) == [(1, 1.5), (2, 1.6)]
    assert not any(trace.text for trace in figure.data) and not any(note.text for note in figure.layout.annotations)
    assert list(lines(figures.speed_curve(np.array([1, 0.9]), np.array([1, 1.1]), 1, ("A", "B")))) == ["A", "B, best: 1"]


def test_gain_against_sureness_has_a_dot_a_text_and_a_line_of_synthetic_ones():
    """Percent on the y axis, the first confidence on the x axis, each drafter with a mark of its own."""
    texts = {"head": [Sureness("a", 20, 0.5, 0.1), Sureness("b", 20, 0.6, 0.2)], "oracle": [Sureness("c", 4, 0.8, 0.3)]}
    line, head, oracle = figures.gain_against_sureness(texts, [Sureness("sharpness 1", 200, 0.4, 0.05)]).data
    assert (line.mode, list(line.x), list(line.y)) == ("lines", [0.4], [5.0])
    assert (list(head.x), list(head.y)) == ([0.5, 0.6], [10.0, 20.0])
    assert list(oracle.y) == [30.0] and head.marker.symbol != oracle.marker.symbol
    whole = [Sureness("head", 900, 0.4, 0.08), Sureness("oracle", 90, 0.7, 0.2)]
    drafters = figures.gain_against_sureness(texts, [], whole).data[-1]
    assert (list(drafters.x), list(drafters.y)) == ([0.4, 0.7], [8.0, 20.0])


def test_the_lies_curves_are_the_three_numbers_of_each_budget():
    """Promise, worth and the honest tree's worth, entry i at budget i."""
    found = [Lie(0.0, 0.0, 0.0), Lie(0.9, 0.5, 0.6), Lie(1.6, 0.8, 1.1)]
    drawn = lines(speed_figures.lie_curve(found, 1))
    assert {name: list(values) for name, values in drawn.items()} == {
        "promised by the lying drafter": [0.0, 0.9, 1.6],
        "tree of the honest drafter": [0.0, 0.6, 1.1],
        "tree of the lying drafter": [0.0, 0.5, 0.8],
    }
