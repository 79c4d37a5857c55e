"""Sequoia's fixed tree: the best shape for average confidences by dynamic programming over (nodes, levels) (arXiv 2402.12374)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..landscape import AverageTable, Landscape, average_table
from ..tree import Path, rank_order
from .base import DEFAULT_LEVELS, LEVELS, MAX_DEPTH, Draft, Policy, PoolTooSmallError, check_budget, check_whole
from .fixed import NoAverageError, value_by_average
from .fixed_order import FixedOrder
from .max_sweep import add_child


@dataclass(frozen=True)
class Sequoia(Policy):
    """The fixed tree of ``budget`` nodes and at most ``max_depth`` levels with the largest expected length on average confidences.

    Let g_l(n) be the most expected accepted tokens below an accepted node of level l with n nodes below it. A child of rank r that
    gets m of them brings p_r * (1 + g_{l+1}(m - 1)); g_l deals n nodes to the ranks, one after the other. The paper's table has one
    row of acceptance by rank; a row for each level works alike. ``average`` as in ``BestStatic``. Which size and depth to take at
    given times is what ``recommend`` finds.

    Laws: equals the best of all fixed trees by brute force; without a binding depth its value is ``BestStatic``'s.
    """

    name = "sequoia"
    title = "Sequoia"
    reason = "part of the best fixed tree for the average context"
    parameters = (LEVELS,)
    fixed = True
    nested = False
    needs_average = True
    max_depth: int = DEFAULT_LEVELS
    average: tuple | None = None

    def __post_init__(self) -> None:
        check_whole("max_depth", self.max_depth, 1, MAX_DEPTH)
        if self.average is not None:
            rows = self.average if not isinstance(self.average[0], (int, float)) else (self.average,)
            object.__setattr__(self, "average", average_table(rows))

    def __call__(self, landscape: Landscape, budget: int) -> Draft:
        budget = check_budget(budget)
        average = self.average or landscape.family_average()
        if average is None:
            raise NoAverageError("average: sequoia needs a table of average confidences, and this landscape knows none")
        shape = best_tree(average, budget, self.max_depth)
        try:
            return replace(FixedOrder(paths=shape)(landscape, budget), policy=self)
        except PoolTooSmallError as error:
            remedy = "raise max_depth or the candidates per node"
            raise PoolTooSmallError(self.name, budget, error.available, remedy) from None


@lru_cache(maxsize=256)
def best_tree(average: AverageTable, budget: int, max_depth: int) -> tuple[Path, ...]:
    """Paths of the best tree, most valuable first; fewer than ``budget`` where ranks and levels offer fewer."""
    levels = min(max_depth, max(1, budget))
    below, dealt = np.zeros(1), []
    for level in range(levels, 0, -1):
        best, choices = np.zeros(1), []
        for confidence in average[min(level, len(average)) - 1]:
            best, choice = add_child(best, confidence * (1 + below), budget)
            choices.append(choice)
        below = best
        dealt.append(choices)
    dealt.reverse()
    paths: list[Path] = []
    waiting: list[tuple[Path, int]] = [((), min(budget, len(below) - 1))]
    while waiting:
        path, count = waiting.pop()
        if not count:
            continue
        for rank, choice in reversed(list(enumerate(dealt[len(path)]))):
            given = int(choice[count])
            if given:
                paths.append((*path, rank))
                waiting.append(((*path, rank), given - 1))
            count -= given
    return tuple(sorted(paths, key=lambda path: rank_order(value_by_average(average, path), path)))
