"""One budget over several requests, a drafter that lies, and contexts that differ: hand examples, brute force, and laws."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_viz import POLICIES, RankLandscape, SyntheticLandscape
from eagle_viz.core.distortion import Distorted, Distortion, lie, lie_curve, worth
from eagle_viz.core.forest import share
from eagle_viz.core.mixed import curve, mixed, rank_tables
from tests.core.test_policies import LANDS

BEST_FIRST = POLICIES["best_first"](max_depth=6)
SHAPES = st.lists(st.builds(SyntheticLandscape, st.integers(0, 2**32 - 1), st.floats(0.2, 4), st.just(3)), min_size=1, max_size=3)

# -- a forest ----------------------------------------------------------------------------------------------------------


@given(SHAPES, st.integers(0, 4))
def test_no_way_to_deal_the_budget_expects_more(requests, each):
    """Every deal of the nodes, each request drafted best-first with its part."""
    found = share(requests, each, max_depth=3)
    total = each * len(requests)
    assert sum(found.sizes) == total
    worths = [[POLICIES["best_first"](3)(one, size).tree.expected_accepted for size in range(total + 1)] for one in requests]
    deals = (deal for deal in product(range(total + 1), repeat=len(requests)) if sum(deal) == total)
    best = max(sum(worths[number][size] for number, size in enumerate(deal)) for deal in deals)
    assert found.expected == pytest.approx(best, abs=1e-12) and found.gain >= -1e-12


@given(SHAPES, st.integers(1, 6))
def test_each_request_gets_its_own_best_first_tree_of_its_size(requests, each):
    """The parts of the forest are trees that best-first would draft alone."""
    for tree, one in zip(share(requests, each, max_depth=4).trees, requests, strict=True):
        assert tree.paths == POLICIES["best_first"](4)(one, tree.budget).tree.paths


def test_like_requests_share_alike_and_a_sure_one_takes_what_another_cannot_use():
    """By hand: 0.9, 0.81, 0.729, 0.656 are all worth more than 0.3; two equal requests gain nothing."""
    sure, unsure = RankLandscape([0.9, 0.05]), RankLandscape([0.3, 0.2])
    found = share([sure, unsure], 2, max_depth=4)
    assert found.sizes == (4, 0) and found.expected == pytest.approx(0.9 + 0.81 + 0.729 + 0.6561)
    assert found.equal == pytest.approx(0.9 + 0.81 + 0.3 + 0.2)
    assert found.gain == pytest.approx((2 + 3.0951) / (2 + 2.21) - 1)
    alike = share([sure, sure], 3, max_depth=4)
    assert alike.sizes == (3, 3) and alike.gain == 0


def test_no_request_is_one_sentence():
    """Nothing to share the budget."""
    with pytest.raises(ValueError, match="requests: 0 given, allowed is a whole number from 1"):
        share([], 3)


# -- a drafter that lies -----------------------------------------------------------------------------------------------


@given(LANDS, st.floats(0.3, 3), st.integers(1, 12))
def test_a_power_changes_what_is_promised_and_never_the_tree(landscape, power, budget):
    """The same nodes wherever no near-tie stands at the cut, so nothing is lost."""
    bent = Distorted(landscape, Distortion(power=power))
    tree, honest = BEST_FIRST(bent, budget).tree, BEST_FIRST(landscape, budget + 1)
    values = honest.tree.values[[honest.tree.index[path] for path in honest.order]]
    if values[budget - 1] > 1.0001 * values[budget] and values[budget - 1] > 1e-4:
        assert set(map(bent.honest, tree.paths)) == set(BEST_FIRST(landscape, budget).tree.paths)
        assert lie([landscape], BEST_FIRST, budget, Distortion(power=power)).lost == pytest.approx(0, abs=1e-9)


@given(LANDS, st.floats(0.2, 5), st.floats(0, 2), st.floats(0, 1), st.integers(0, 20))
def test_lies_never_gain_and_keep_the_mass_of_a_node(landscape, temperature, noise, shuffled, budget):
    """Best-first on honest confidences is the optimum; scaling back keeps the chance that a child is accepted."""
    distortion = Distortion((temperature,), noise, shuffled)
    assert lie([landscape], BEST_FIRST, budget, distortion).lost >= -1e-12
    found = Distorted(landscape, distortion).expand([()])[0].confidences
    assert found.sum() == pytest.approx(landscape.expand([()])[0].confidences.sum(), abs=1e-9)
    assert (np.diff(found) <= 0).all()


def test_temperatures_go_by_depth_and_an_honest_drafter_loses_nothing():
    """0.6 and 0.2 at T 0.5: 0.36 and 0.04 scaled to 0.8; below the root T is 1 and nothing changes."""
    bent = Distorted(RankLandscape([0.6, 0.2]), Distortion((0.5, 1.0)))
    rows = [row.confidences.tolist() for row in bent.expand([(), (0,)])]
    assert rows[0] == pytest.approx([0.72, 0.08]) and rows[1] == pytest.approx([0.6, 0.2])
    lands = [SyntheticLandscape(seed) for seed in range(5)]
    same = lie(lands, BEST_FIRST, 20, Distortion())
    assert (same.promised, same.worth, same.lost) == (same.honest, same.honest, 0)


def test_more_noise_and_more_shuffles_lose_more():
    """On the mean of fifty contexts; half confident, the promise falls and overconfident it rises."""
    lands = [SyntheticLandscape(seed) for seed in range(50)]
    noisy = [lie(lands, BEST_FIRST, 20, Distortion(noise=noise)).lost for noise in (0, 0.5, 1, 2)]
    shuffled = [lie(lands, BEST_FIRST, 20, Distortion(shuffled=part)).lost for part in (0, 0.2, 0.5, 1)]
    assert noisy == sorted(noisy) and shuffled == sorted(shuffled) and noisy[-1] > 0.1 and shuffled[-1] > 0.3
    flat, sharp = (lie(lands, BEST_FIRST, 20, Distortion((one,))) for one in (2.0, 0.5))
    assert flat.promised < flat.honest < sharp.promised


@given(st.lists(LANDS, min_size=1, max_size=2), st.floats(0.3, 3), st.floats(0, 1), st.floats(0, 1))
def test_a_curve_of_lies_is_a_lie_at_every_budget(landscapes, temperature, noise, shuffled):
    """One drafting at the largest budget says what each smaller one says by itself."""
    distortion = Distortion((temperature,), noise, shuffled)
    for budget, one in enumerate(lie_curve(landscapes, BEST_FIRST, 8, distortion)):
        alone = lie(landscapes, BEST_FIRST, budget, distortion)
        assert (one.promised, one.worth, one.honest) == pytest.approx((alone.promised, alone.worth, alone.honest), abs=1e-9)


def test_a_curve_of_lies_needs_nested_trees_and_a_context():
    """Where a policy chooses anew at each budget one drafting is not enough."""
    with pytest.raises(ValueError, match="policy: max_sweep given, allowed is one whose trees grow with the budget"):
        lie_curve([SyntheticLandscape(1)], POLICIES["max_sweep"](), 4, Distortion())
    with pytest.raises(ValueError, match="contexts: none given"):
        lie_curve([], BEST_FIRST, 4, Distortion())


def test_worth_is_the_trees_own_sum_where_nothing_is_bent():
    """The sum of path products, whichever way it is taken."""
    land = SyntheticLandscape(3)
    tree = BEST_FIRST(land, 12).tree
    assert worth(land, tree.paths[1:]) == pytest.approx(tree.expected_accepted)


@pytest.mark.parametrize(
    "field,value", [("temperature", ()), ("temperature", (0.0,)), ("noise", -1), ("shuffled", 2), ("power", 0), ("seed", -1)]
)
def test_a_lie_that_is_none_is_named(field, value):
    """The field and what is allowed."""
    with pytest.raises(ValueError, match=f"^{field}: .*allowed is"):
        Distortion(**{field: value})


# -- contexts that differ ----------------------------------------------------------------------------------------------


@given(st.floats(0, 4), st.floats(0, 3), st.integers(1, 6))
def test_the_fixed_shape_is_the_best_one_and_never_better_than_each_contexts_own(mean, spread, budget):
    """Best of all fixed trees by the mean of each context's value, and the mean of best-first on each context alone."""
    found, tables = mixed(mean, spread, budget, branching=2), rank_tables(mean, spread, 2)
    own = [POLICIES["best_first"](None)(RankLandscape(_floor(row)), budget).tree.expected_accepted for row in tables]
    assert found.dynamic == pytest.approx(np.mean(own), abs=1e-9)
    level, nodes = [()], []
    for _ in range(min(budget, 4)):
        level = [(*path, rank) for path in level for rank in (0, 1)]
        nodes += level
    values = sorted((float(np.mean(np.prod(tables[:, list(path)], axis=1))) for path in nodes), reverse=True)
    assert found.static >= sum(values[:budget]) - 1e-12 and found.gain >= -1e-12


def _floor(row):
    return np.floor(row * 2**40) / 2**40


def test_the_gain_grows_with_the_spread_from_nothing():
    """Alike contexts: the fixed shape is as good. The more they differ the more their own trees win, until many are cut at 0."""
    gains = [one.gain for one in curve(2.0, (0, 0.5, 1, 1.5), budget=25)]
    assert gains[0] == pytest.approx(0, abs=1e-12) and gains == sorted(gains) and gains[-1] > 0.05


@pytest.mark.parametrize("field,value", [("mean", -1), ("spread", 11), ("budget", 0), ("branching", 1)])
def test_a_mixture_that_is_none_is_named(field, value):
    """The field and what is allowed."""
    with pytest.raises(ValueError, match=f"^{field}: .*allowed is"):
        mixed(**({"mean": 2.0, "spread": 1.0, "budget": 5} | {field: value}))
