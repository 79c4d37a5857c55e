"""Confidence against acceptance, by hand and against brute force over tiny landscapes."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from eagle_viz import POLICIES, DraftTree, Node, RankLandscape, RecordedLandscape, Verdict
from eagle_viz.core.calibration import (
    Observations,
    TargetPriced,
    ablation_policies,
    best_first_gaps,
    by_depth,
    by_rank,
    climb,
    ladder_policies,
    observe,
    reliability,
    target_value,
    wilson,
)
from eagle_viz.core.hashing import on_grid
from eagle_viz.core.landscape import Candidates
from eagle_viz.core.recording import RecordedCycle


def random_landscape(seed: int, width: int = 3, depth: int = 3, oracle: bool = False) -> RecordedLandscape:
    """A full tree of random confidences beside unrelated random target probabilities (or the same ones)."""
    rng = np.random.default_rng(seed)
    candidates, level = {}, [()]
    for _ in range(depth):
        for path in level:
            confidences = on_grid(np.sort(rng.dirichlet(np.ones(width + 1))[:width])[::-1])
            target = confidences if oracle else on_grid(rng.dirichlet(np.ones(width + 1))[:width])
            candidates[path] = Candidates(np.arange(width), confidences, target)
        level = [(*path, rank) for path in level for rank in range(width)]
    return RecordedLandscape(candidates, average=((0.5, 0.2, 0.1),))


def every_path(landscape):
    return sorted((*path, rank) for path, row in landscape.candidates.items() for rank in range(len(row)))


def best_by_brute_force(landscape, budget):
    """The largest target value of any ancestor-closed set of `budget` nodes."""
    sets = (set(chosen) for chosen in combinations(every_path(landscape), budget))
    return max(target_value(landscape, s) for s in sets if all(len(path) == 1 or path[:-1] in s for path in s))


@pytest.mark.parametrize("seed", range(6))
def test_the_oracle_is_the_best_tree_by_the_targets_probabilities(seed):
    landscape = random_landscape(seed, width=2, depth=3)
    cycle = RecordedCycle(0, landscape, ())
    (rung,) = climb([cycle], {}, budget=5, oracle=3)
    assert rung.target == pytest.approx(best_by_brute_force(landscape, 5), abs=1e-12)


def test_no_rung_passes_the_oracle_and_none_promises_more_than_best_first():
    cycles = [RecordedCycle(0, random_landscape(seed, depth=6), (0, 0, 1)) for seed in range(20)]
    policies = ladder_policies(max_depth=6, top_k=3) | ablation_policies(max_depth=6, top_k=3)
    *rungs, oracle = climb(cycles, policies, budget=9, oracle=6)
    best = next(rung for rung in rungs if rung.name == "best_first")
    assert all(rung.target <= oracle.target + 1e-12 for rung in rungs)
    assert all(rung.expected <= best.expected + 1e-12 for rung in [*rungs, oracle])


def test_with_a_calibrated_drafter_best_first_is_the_oracle():
    cycles = [RecordedCycle(0, random_landscape(seed, oracle=True), (0, 1)) for seed in range(10)]
    best, oracle = climb(cycles, {"best_first": POLICIES["best_first"](max_depth=3)}, budget=9, oracle=3)
    assert best.target == pytest.approx(oracle.target, abs=1e-12) == best.expected
    assert best.accepted == oracle.accepted


def test_a_ladder_without_a_context_is_a_sentence():
    with pytest.raises(ValueError, match="cycles: none given"):
        climb([], ladder_policies(6), 25)


def test_a_policy_that_asks_beyond_the_recording_is_left_out():
    cycles = [RecordedCycle(0, random_landscape(seed, depth=3), (0, 1)) for seed in range(3)]
    policies = {"chain": POLICIES["chain"](), "best_first": POLICIES["best_first"](max_depth=3)}
    assert [rung.name for rung in climb(cycles, policies, budget=9, oracle=3)] == ["best_first", "oracle"]


def test_a_policy_without_the_average_that_it_needs_is_left_out():
    """Recordings of one prompt have no other prompts to take an average over."""
    landscapes = [replace(random_landscape(seed, depth=6), average=None) for seed in range(3)]
    cycles = [RecordedCycle(0, landscape, (0, 1)) for landscape in landscapes]
    policies = {name: POLICIES[name]() for name in ("best_static", "best_first")}
    assert [rung.name for rung in climb(cycles, policies, budget=3)] == ["best_first"]


def test_target_priced_ranks_by_the_target_and_leads_back():
    landscape = RecordedLandscape({(): Candidates(np.array([7, 8]), np.array([0.6, 0.3]), np.array([0.2, 0.7]))})
    priced = TargetPriced(landscape)
    row = priced.expand([()])[0]
    assert row.tokens.tolist() == [8, 7] and row.confidences.tolist() == [0.7, 0.2]
    assert [priced.original((rank,)) for rank in (0, 1)] == [(1,), (0,)]
    with pytest.raises(ValueError, match="does not know"):
        TargetPriced(RankLandscape([0.5])).expand([()])


@pytest.mark.parametrize("by_target", [False, True])
def test_without_gaps_best_first_expands_nothing_new(by_target):
    full = random_landscape(5, width=3, depth=4)
    known = {path: full.candidates[path] for path in [(), (0,), (0, 0), (0, 0, 0)]}  # deeper than the cap: must not count
    while gaps := best_first_gaps(known, budget=12, max_depth=3, by_target=by_target):
        known |= {path: full.candidates[path] for path in gaps}
    landscape = RecordedLandscape(known)
    landscape = TargetPriced(landscape) if by_target else landscape
    whole = TargetPriced(full) if by_target else full
    for budget in range(13):
        policy = POLICIES["best_first"](max_depth=3)
        assert policy(landscape, budget).tree.paths == policy(whole, budget).tree.paths


def test_observations_are_the_children_of_the_root_and_of_accepted_nodes():
    landscape = random_landscape(1)
    kept = [(0,), (1,), (0, 0), (1, 0), (1, 2)]
    tree = DraftTree.from_nodes(Node(path, 0, float(landscape.candidates[path[:-1]].confidences[path[-1]])) for path in kept)
    seen = observe(landscape, tree, Verdict((tree.index[(1,)], tree.index[(1, 2)]), 5))
    assert seen.depth.tolist() == [1, 1, 2, 2] and seen.rank.tolist() == [0, 1, 0, 2]
    assert seen.accepted.tolist() == [False, True, False, True]
    root, second = (landscape.candidates[path].target_probabilities for path in [(), (1,)])
    np.testing.assert_array_equal(seen.target, [*root[:2], *second[[0, 2]]])


def observations(confidence, target, accepted):
    size = len(confidence)
    return Observations(np.array(confidence), np.array(target), np.array(accepted), np.arange(size) % 3 + 1, np.arange(size) % 2)


def test_calibration_error_by_hand():
    """Two bins of two: |0.15 - 0.2| and |0.85 - 0.65| weigh half each: 0.125."""
    found = reliability(observations([0.1, 0.2, 0.8, 0.9], [0.1, 0.3, 0.6, 0.7], [False, False, True, True]), bins=2)
    assert found.ece == pytest.approx(0.125)
    assert [b.count for b in found.bins] == [2, 2] and [b.accepted for b in found.bins] == [0, 1]
    assert found.ece_accepted == pytest.approx(0.15)
    assert found.to_json()["bins"][1]["confidence"] == pytest.approx(0.85)


def test_an_oracle_has_no_calibration_error_and_bins_are_of_equal_count():
    values = np.random.default_rng(0).random(1000)
    found = reliability(observations(values, values, values > 0.5))
    assert found.ece == pytest.approx(0, abs=1e-12) and len(found.bins) == 15
    assert {b.count for b in found.bins} == {66, 67} and sum(b.count for b in found.bins) == found.count == 1000


def test_outcomes_drawn_from_the_confidences_look_calibrated():
    rng = np.random.default_rng(1)
    values = rng.random(6000)
    found = reliability(observations(values, values, rng.random(6000) < values))
    assert found.ece_accepted < 0.03
    assert sum(b.low <= b.confidence <= b.high for b in found.bins) >= 13


def test_wilson_interval_matches_the_published_value():
    """8 of 10: 0.490 to 0.943 (Wilson 1927, 95 %)."""
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0) and wilson(0, 10)[0] == 0 and wilson(10, 10)[1] == 1


def test_groups_partition_the_observations():
    seen = observations([0.1, 0.2, 0.8, 0.9], [0.1, 0.3, 0.6, 0.7], [False, False, True, True])
    assert [(g.key, g.count) for g in by_depth(seen)] == [(1, 2), (2, 1), (3, 1)]
    assert [(g.key, g.count, g.accepted) for g in by_rank(seen)] == [(0, 2, 0.5), (1, 2, 0.5)]
    assert len(Observations.join([seen, seen])) == 8
    with pytest.raises(ValueError, match="none given"):
        Observations.join([])
