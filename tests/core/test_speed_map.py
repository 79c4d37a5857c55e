"""The map of speeds and the Pareto front against scans of every simulated setting."""

import numpy as np
import pytest

from eagle_viz.core.cost import PassCost, parse_times
from eagle_viz.core.curves import Setting
from eagle_viz.core.recommendation import recommend
from eagle_viz.core.recording import read, shipped
from eagle_viz.core.simulation import Outcome, outcomes, tally, whole
from eagle_viz.core.speed_map import pareto, speed_map

TIMES = parse_times("mine", "1:10 64:11 256:30 draft:0.6")


@pytest.fixture(scope="module")
def simulated():
    """Four contexts of one recording, every setting."""
    recording = read(shipped()["smollm2-135m-eagle3-python"])
    return tally([(recording.kind, cycle) for cycle in recording.cycles[:4]])


@pytest.mark.parametrize("batch,early", [(1, False), (32, False), (1, True)])
def test_each_cell_is_the_fastest_of_its_levels_and_budget(simulated, batch, early):
    """A scan of all rows with the formula written out finds the same speed, tau and top_k; unknown cells have no row."""
    made = speed_map(whole(simulated), TIMES, batch, early)
    best = {}
    for one in outcomes(simulated):
        if one.setting.policy == "eagle2" and one.setting.early_stop is early:
            time = float(TIMES.verify(batch * (one.setting.budget + 1))) + one.passes * 0.6
            speed, cell = one.tau * float(TIMES.verify(batch)) / time, (one.setting.max_depth - 1, one.setting.budget - 1)
            if cell not in best or speed > best[cell][0] + 1e-12:
                best[cell] = speed, one
    assert len(best) == np.count_nonzero(~np.isnan(made.speed))
    for cell, (speed, one) in best.items():
        assert made.speed[cell] == pytest.approx(speed)
        assert (made.tau[cell], made.passes[cell]) == pytest.approx((one.tau, one.passes)) and made.setting(*cell) == one.setting


def test_the_best_cell_is_what_is_recommended_among_eagle2(simulated):
    """The marked cell and ``recommend`` name one setting; cells nearly as good contain it and lose at most 2 %."""
    rows = [one for one in outcomes(simulated) if one.setting.policy == "eagle2" and not one.setting.early_stop]
    for batch in (1, 8):
        made, advice = speed_map(whole(simulated), TIMES, batch), recommend(rows, TIMES, batch)
        assert made.speed[made.best] == pytest.approx(advice.speedup)
        assert made.near_best[made.best] and made.speed[made.near_best].min() >= 0.98 * advice.speedup


def test_where_nothing_pays_no_cell_pays(simulated):
    """At times that grow with each position and a dear draft every setting is slower than plain decoding."""
    made = speed_map(whole(simulated), PassCost("dear", (1, 2), (1.0, 2.0), 5.0))
    assert not made.pays.any() and not made.near_best.any()


def test_no_setting_beats_one_on_the_front(simulated):
    """Every setting is met by one on the front with as much tau in as little time; both rise along it."""
    rows = outcomes(simulated)
    front = pareto(rows, TIMES)
    times, taus = np.array([one.milliseconds for one in front]), np.array([one.outcome.tau for one in front])
    assert (np.diff(times) > 0).all() and (np.diff(taus) > 0).all()
    for one in rows:
        time = float(TIMES.verify(one.setting.budget + 1)) + one.passes * 0.6
        assert ((times <= time + 1e-9) & (taus >= one.tau - 1e-9)).any()
    assert max(one.speed for one in front) == pytest.approx(recommend(rows, TIMES).speedup)


def test_a_front_by_hand():
    """Of three settings the one that is dearer and no better is left out: 2 nodes 3 ms tau 1.5; 5 nodes 6 ms tau 2."""
    cost = PassCost("linear", (1, 11), (1.0, 11.0), 0.0)
    rows = [Outcome(Setting("chain", n), tau, tau, tau, 1, n) for n, tau in ((5, 2.0), (2, 1.5), (4, 1.5))]
    assert [(one.outcome.setting.budget, one.milliseconds, one.speed) for one in pareto(rows, cost)] == [
        (2, 3.0, 0.5),
        (5, 6.0, pytest.approx(1 / 3)),
    ]


def test_a_bad_batch_is_one_sentence(simulated):
    """Batch 0 is refused by both."""
    for call in (lambda: speed_map(whole(simulated), TIMES, 0), lambda: pareto(outcomes(simulated), TIMES, 0)):
        with pytest.raises(ValueError, match="batch: 0 given, allowed is a whole number from 1"):
            call()
