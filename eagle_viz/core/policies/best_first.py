"""Exact best-first: the optimum for an additive objective, one node at a time."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from ..landscape import Landscape
from ..tree import ROOT, Path, rank_order
from .base import LEVELS, MAX_DEPTH, Draft, Policy, PoolTooSmallError, Scout, check_budget, check_whole


@dataclass(frozen=True)
class BestFirst(Policy):
    """Keep the candidate with the largest path product, then score its children; repeat.

    Law: no ancestor-closed set of ``budget`` nodes (at most ``max_depth`` levels; None = no cap) has more ``expected_accepted``,
    because a child is never worth more than its parent. Needs one draft pass for almost every kept node, so it is the bound that
    EAGLE-2's beam is measured against rather than a drafter to deploy.
    """

    name = "best_first"
    title = "Best-first (exact)"
    reason = "the most probable of the {left} guesses not yet taken"
    parameters = (LEVELS,)
    max_depth: int | None = None

    def __post_init__(self) -> None:
        if self.max_depth is not None:
            check_whole("max_depth", self.max_depth, 1, MAX_DEPTH)

    def __call__(self, landscape: Landscape, budget: int) -> Draft:
        budget = check_budget(budget)
        scout = Scout(landscape)
        order = grow_best_first(scout, budget, self.max_depth or MAX_DEPTH)
        if len(order) < budget:
            raise PoolTooSmallError(self.name, budget, len(order), "raise max_depth or the candidates per node")
        return scout.draft(self, order)


def grow_best_first(scout: Scout, budget: int, max_depth: int) -> list[Path]:
    """The kept paths, best first; fewer than ``budget`` where the candidates run out."""
    order: list[Path] = []
    heap: list[tuple[float, int, Path]] = []
    parent: Path | None = ROOT
    while len(order) < budget:
        if parent is not None:
            for child in scout.expand([parent]):
                heapq.heappush(heap, rank_order(scout.values[child], child))
        if not heap:
            break
        best = heapq.heappop(heap)[-1]
        order.append(best)
        parent = best if len(best) < max_depth else None
    return order
