"""The recommended setting against hand-made prices and a scan of all of them."""

import json

import pytest

from eagle_viz.core.cost import PassCost, parse_times, speedup
from eagle_viz.core.curves import Setting
from eagle_viz.core.recommendation import Outcome, outcomes_from, recommend, row_of


def eagle2(budget, tau, max_depth=4, early=False, passes=None):
    """An outcome of EAGLE-2 with top_k 4."""
    passes = max_depth if passes is None else passes
    return Outcome(Setting("eagle2", budget, max_depth, 4, early), tau, tau - 0.1, tau + 0.1, passes, budget)


SMALL, LARGE, EARLY = eagle2(7, 2.0), eagle2(31, 3.0), eagle2(31, 3.0, early=True, passes=2.5)
CHAIN = Outcome(Setting("chain", 3), 1.9, 1.8, 2.0, 3, 3)
TIMES = parse_times("mine", "1:10 64:11 256:30 draft:0.6")


def test_speed_of_a_batch_by_hand():
    """Two requests of 10 nodes are 22 positions, 31 ms, and two plain tokens 11 ms: 2.5 * 11 / (31 + 3 * 2)."""
    cost = PassCost("linear", (1, 11), (10.0, 20.0), 2.0, plain_ms=5.0)
    assert speedup(cost, [1.5], [10], [3], batch=2) == pytest.approx([2.5 * 11 / 37])


def test_no_simulated_setting_is_faster_than_the_recommended_one():
    """A scan with the formula written out finds the same best speed at every batch."""
    for batch in (1, 2, 8, 32):
        outcomes = [SMALL, LARGE, EARLY, CHAIN]
        speeds = [
            one.tau * TIMES.verify(batch) / (TIMES.verify(batch * (one.setting.budget + 1)) + one.passes * 0.6) for one in outcomes
        ]
        assert recommend(outcomes, TIMES, batch).speedup == pytest.approx(max(1.0, *speeds))


def test_the_best_budget_shrinks_with_the_batch():
    """The large tree wins alone, a smaller one where positions are dear, plain decoding where nothing pays."""
    outcomes = [SMALL, LARGE, CHAIN]
    found = [recommend(outcomes, TIMES, batch).to_json()["budget"] for batch in (1, 8, 4096)]
    assert found[0] == 31 and 0 < found[1] < 31 and found[2] == 0


def test_each_engine_gets_the_fastest_setting_that_it_can_express():
    """vLLM verifies chains only, and no engine stops its draft early: off-by-ones of EAGLE and SGLang by hand."""
    advice = recommend([EARLY, LARGE, SMALL, CHAIN], TIMES, 1)
    assert advice.best is EARLY
    assert advice.flags["EAGLE"] == "total_token=32, depth=3, top_k=4"
    assert "--speculative-num-steps 4" in advice.flags["SGLang"] and "num-draft-tokens 32" in advice.flags["SGLang"]
    assert '"num_speculative_tokens": 3' in advice.flags["vLLM"]
    assert recommend([EARLY], TIMES, 1).flags["vLLM"] == "speculation off"


def test_a_tree_that_ends_itself_is_priced_at_its_mean_size():
    """Budget 31 but 3 nodes on average: the time of 4 positions counts, and no engine has the rule."""
    ends = Outcome(Setting("ddd", 31, 4, 4, threshold=0.3), 2.0, 1.9, 2.1, 2, 3.0)
    advice = recommend([ends], TIMES)
    assert advice.speedup == pytest.approx(2.0 * 10 / (float(TIMES.verify(4)) + 2 * 0.6))
    assert set(advice.flags.values()) == {"speculation off"}
    assert outcomes_from({"version": 1, "rows": [row_of(ends)]}) == [ends]


def test_rows_written_are_read_back():
    """A simulation survives its file."""
    document = {"version": 1, "rows": [row_of(one) for one in (SMALL, EARLY, CHAIN)]}
    assert outcomes_from(json.loads(json.dumps(document))) == [SMALL, EARLY, CHAIN]


@pytest.mark.parametrize(
    "change,field",
    [({"policy": "none"}, "policy"), ({"tau": 0.5}, "tau"), ({"tau": "x"}, "tau"), ({"budget": 0}, "budget")]
    + [({"threshold": 0.4}, "threshold"), ({"policy": "ddd", "early_stop": None}, "threshold")]
    + [({"passes": -1}, "passes"), ({"top_k": 0}, "top_k"), ({"early_stop": 3}, "early_stop"), ({"policy": "chain"}, "max_depth")],
)
def test_a_row_that_is_none_is_one_sentence(change, field):
    """A bad row names its field and what is allowed."""
    with pytest.raises(ValueError, match=f"rows: row 1.*{field}.*allowed"):
        outcomes_from({"version": 1, "rows": [row_of(SMALL) | change]})


@pytest.mark.parametrize("document", [None, [], {"version": 2, "rows": []}, {"rows": []}])
def test_a_simulation_of_another_version_is_refused(document):
    """The version that was found is named."""
    with pytest.raises(ValueError, match="version: .* given in the simulation, allowed is 1"):
        outcomes_from(document)


def test_falling_times_and_batch_zero_are_refused():
    """Each in one sentence with what is allowed."""
    with pytest.raises(ValueError, match="times: 64:5 given after 10 ms"):
        recommend([SMALL], parse_times("mine", "1:10 64:5"), 1)
    with pytest.raises(ValueError, match="batch: 0 given, allowed is a whole number from 1"):
        recommend([SMALL], TIMES, 0)
