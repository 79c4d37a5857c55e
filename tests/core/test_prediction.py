"""Predicted tokens a second by hand, and what a report adds up."""

import pytest

from eagle_viz.core.cost import PassCost
from eagle_viz.core.prediction import PartTimes, Predicted, PredictionReport, Rehearsed, cycle_ms, predicted_speed


def line(start, each):
    """A part that takes ``start`` for one and ``each`` more for each further one."""
    return PassCost("line", (1, 2), (start, start + each), 0.0)


TIMES = PartTimes(((100, line(10.0, 1.0)), (200, line(20.0, 1.0))), line(2.0, 0.5), line(1.0, 0.1), line(0.5, 0.0))


def test_a_cycle_is_the_sum_of_its_parts():
    """3 rows 3 ms, frontiers of 4 and 2 nodes 1.3 + 1.1, the policy 0.7, 6 positions at length 150 20 ms, the rest 0.5."""
    assert cycle_ms(Rehearsed((4, 2), 5, 2, 150, 0.7), TIMES, rows=3) == pytest.approx(3 + 1.3 + 1.1 + 0.7 + 20 + 0.5)


@pytest.mark.parametrize("length,expected", [(40, 10), (100, 10), (150, 15), (200, 20), (250, 25)])
def test_a_longer_text_costs_more_linearly(length, expected):
    """Between the lengths measured and beyond the longest; a shorter text, and any at one length, costs what that did."""
    assert TIMES.verify_ms(1, length) == pytest.approx(expected)
    assert PartTimes(TIMES.verify[:1], *([line(1.0, 0.0)] * 3)).verify_ms(1, length) == 10


def test_speed_counts_the_heads_pass_over_each_prompt():
    """Two texts of 11 tokens, tau 2: ten cycles of 12 + 2.5 + 0.5 ms and two prompts of 21 rows instead of 2: 9.5 ms each."""
    contexts = [Rehearsed((), 2, 2, 100, 0.0)] * 3
    speed = predicted_speed(contexts, prompts=[21, 21], answers=[11, 11], times=TIMES)
    assert speed == pytest.approx(1000 * 20 / (10 * 15 + 2 * 9.5))


def test_errors_and_the_recommended_setting_by_hand():
    """Errors of +10 %, -20 % and 0; the fastest predicted one measures 9 of at most 10 tokens a second."""
    rows = tuple(Predicted(name, "float32", p, m, 2, 2) for name, p, m in (("a", 9.9, 9.0), ("b", 8.0, 10.0), ("c", 5.0, 5.0)))
    report = PredictionReport(rows)
    assert (report.median_error, report.worst_error) == (pytest.approx(0.1), pytest.approx(0.2))
    assert report.recommended is rows[0] and report.share_of_best == pytest.approx(0.9)
    assert report.to_json()["rows"][1]["error"] == pytest.approx(-0.2)
    with pytest.raises(ValueError, match="rows: none given"):
        PredictionReport(())
    with pytest.raises(ValueError, match="contexts: none given"):
        predicted_speed([], [1], [2], TIMES)
