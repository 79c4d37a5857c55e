"""The ladder of policies against brute force over tiny landscapes."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from eagle_viz import POLICIES, RankLandscape, RecordedLandscape
from eagle_viz.core.hashing import on_grid
from eagle_viz.core.ladder import (
    TargetPriced,
    ablation_policies,
    best_first_gaps,
    ladder_policies,
    score_policies,
    target_value,
)
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
    (rung,) = score_policies([cycle], {}, budget=5, oracle=3)
    assert rung.target == pytest.approx(best_by_brute_force(landscape, 5), abs=1e-12)


def test_no_rung_passes_the_oracle_and_none_promises_more_than_best_first():
    cycles = [RecordedCycle(0, random_landscape(seed, depth=6), (0, 0, 1)) for seed in range(20)]
    policies = ladder_policies(max_depth=6, top_k=3) | ablation_policies(max_depth=6, top_k=3)
    *rungs, oracle = score_policies(cycles, policies, budget=9, oracle=6)
    best = next(rung for rung in rungs if rung.name == "best_first")
    assert all(rung.target <= oracle.target + 1e-12 for rung in rungs)
    assert all(rung.expected <= best.expected + 1e-12 for rung in [*rungs, oracle])


def test_with_a_calibrated_drafter_best_first_is_the_oracle():
    cycles = [RecordedCycle(0, random_landscape(seed, oracle=True), (0, 1)) for seed in range(10)]
    best, oracle = score_policies(cycles, {"best_first": POLICIES["best_first"](max_depth=3)}, budget=9, oracle=3)
    assert best.target == pytest.approx(oracle.target, abs=1e-12) == best.expected
    assert best.accepted == oracle.accepted


def test_a_ladder_without_a_context_is_a_sentence():
    with pytest.raises(ValueError, match="cycles: none given"):
        score_policies([], ladder_policies(6), 25)


def test_a_policy_that_asks_beyond_the_recording_is_left_out():
    cycles = [RecordedCycle(0, random_landscape(seed, depth=3), (0, 1)) for seed in range(3)]
    policies = {"chain": POLICIES["chain"](), "best_first": POLICIES["best_first"](max_depth=3)}
    assert [rung.name for rung in score_policies(cycles, policies, budget=9, oracle=3)] == ["best_first", "oracle"]


def test_a_policy_without_the_average_that_it_needs_is_left_out():
    """Recordings of one prompt have no other prompts to take an average over."""
    landscapes = [replace(random_landscape(seed, depth=6), average=None) for seed in range(3)]
    cycles = [RecordedCycle(0, landscape, (0, 1)) for landscape in landscapes]
    policies = {name: POLICIES[name]() for name in ("best_static", "best_first")}
    assert [rung.name for rung in score_policies(cycles, policies, budget=3)] == ["best_first"]


def test_target_priced_ranks_by_the_target_and_leads_back():
    landscape = RecordedLandscape({(): Candidates(np.array([7, 8]), np.array([0.6, 0.3]), np.array([0.2, 0.7]))})
    priced = TargetPriced(landscape)
    row = priced.expand([()])[0]
    assert row.tokens.tolist() == [8, 7] and row.confidences.tolist() == [0.7, 0.2]
    assert [priced.original((rank,)) for rank in (0, 1)] == [(1,), (0,)]
    with pytest.raises(ValueError, match="not recorded here"):
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
