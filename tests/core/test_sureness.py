"""How sure a drafter is and what adapting gains: by hand, and rising with sharpness on synthetic landscapes."""

import pytest

from eagle_viz.core.calibration import Means, Standing
from eagle_viz.core.landscape import RankLandscape, SyntheticLandscape
from eagle_viz.core.measured import DRAFTERS, Measured, read_measured
from eagle_viz.core.population import population
from eagle_viz.core.reliability import Reliability, mean_top
from eagle_viz.core.replay import Pass
from eagle_viz.core.sureness import measured_sureness, sureness, synthetic_sureness


def passes(*expected):
    """Passes of four nodes that expect so many accepted tokens."""
    return [Pass(4, 2, 2, value, 1, 2) for value in expected]


def test_gain_is_of_the_means_and_sureness_the_mean_first_confidence():
    """(1.2 + 1.8) / 2 over (1 + 1) / 2 is 50 % more; first candidates of 0.5 and 0.9 are 0.7 on average."""
    lands = [RankLandscape([0.5, 0.2]), RankLandscape([0.9])]
    found = sureness("a text", lands, passes(1.0, 1.0), passes(1.2, 1.8))
    assert (found.title, found.contexts) == ("a text", 2)
    assert (found.top, found.gain) == pytest.approx((0.7, 0.5))


def test_of_a_table_the_gain_is_of_what_sampling_promises():
    """1.5 over 1.2 tokens is 25 % more, whatever the other reading says."""
    means = {name: Means(9, 25, 9.0, value, 1.0, 2.0, 1.9, 2.1) for name, value in (("eagle1:25", 1.2), ("eagle2:25", 1.5))}
    standings = tuple(Standing(name, name, 25, mean, {}, {}) for name, mean in means.items())
    table = Measured("head", "questions", 3, 64, "bfloat16", "greedy", 9, 0.4, standings, Reliability((), 0.0, 0.0, 0), None)
    found = measured_sureness(table)
    assert (found.title, found.contexts, found.top, found.gain) == ("head", 9, 0.4, pytest.approx(0.25))


def test_of_the_shipped_drafters_the_target_itself_is_surest_and_gains_most():
    """Measured on the same prompts; between the heads the gain falls with the confidence, as on synthetic landscapes there."""
    found = sorted((measured_sureness(read_measured(path)) for path in DRAFTERS.glob("*.json")), key=lambda one: one.top)
    assert len(found) == 4 and found[-1].title == "oracle"
    assert all(head.top < found[-1].top and head.gain < found[-1].gain for head in found[:-1])


def test_no_context_is_refused():
    """A mean over nothing is one sentence."""
    with pytest.raises(ValueError, match="landscapes: none given"):
        mean_top([])


def test_on_synthetic_landscapes_a_surer_drafter_gains_more():
    """Over sharpnesses 0.8 to 4 both rise; the first confidence is the mean over many seeds."""
    rows = [population(sharpness, 25, seeds=range(60)) for sharpness in (0.8, 1.5, 2.5, 4.0)]
    found = synthetic_sureness(rows, branching=4, coverage=1.0, seeds=60)
    assert all(a.top < b.top and a.gain < b.gain for a, b in zip(found, found[1:], strict=False))
    drawn = mean_top(SyntheticLandscape(seed, 2.5) for seed in range(400))
    assert found[2].top == pytest.approx(drawn, abs=0.02)
