"""Fixed shapes: rank paths decided once, never looking at the context (EAGLE-1, best static shape, chain)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np

from ..landscape import AverageTable, Landscape, average_table
from ..tree import ROOT, Path, canonical_order, rank_order
from .base import MAX_DEPTH, Draft, Policy, PoolTooSmallError, Scout, check_budget

EAGLE1_PATHS: tuple[Path, ...] = (
    *((0,), (1,), (2,), (3,)),
    *((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0)),
    *((0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 1, 0), (0, 1, 1), (0, 2, 0), (0, 2, 1), (1, 0, 0)),
    *((0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, 2)),
    *((0, 0, 0, 0, 0), (0, 0, 0, 0, 1)),
)
"""EAGLE-1's published tree (``mc_sim_7b_63``): 25 drafted nodes, 5 levels, chosen by intuition, its authors say."""

RANK_AVERAGES: tuple[float, ...] = (0.6, 0.19, 0.09, 0.05, 0.03, 0.017, 0.01, 0.005, 0.0025, 0.001)
"""Average confidence by rank that orders EAGLE-1's paths at smaller budgets and continues them at larger ones.

Rounded mean of SyntheticLandscape(sharpness=2.5, branching=10) over its fixed seeds (checked in tests/core).
"""


class NoAverageError(ValueError):
    """A policy that needs a table of average confidences has none, and its landscape knows none."""


class FixedShape(Policy):
    """A preference over rank paths, ancestors first.

    Ranks that the landscape does not have are skipped and the budget is filled from later preferences.
    """

    reason = "next in the fixed order; the context is not considered"
    fixed = True
    remedy: ClassVar[str] = "raise the candidates per node or the depth of the landscape"

    def preference(self, landscape: Landscape, missing: Set[Path]) -> Iterator[Path]:
        """Rank paths, most wanted first, each after its parent; ``missing`` fills up with those that the landscape lacks."""
        raise NotImplementedError

    def __call__(self, landscape: Landscape, budget: int) -> Draft:
        budget = check_budget(budget)
        missing: set[Path] = set()
        kept = _fill(landscape, self.preference(landscape, missing), missing, budget)
        if len(kept) < budget:
            raise PoolTooSmallError(self.name, budget, len(kept), self.remedy)
        scout = Scout(landscape)
        expand_levels(scout, kept)
        scout.nodes = {path: scout.nodes[path] for path in kept}
        return scout.draft(self, kept)

    def passes_at(self, draft: Draft) -> np.ndarray:
        """One pass a level that the shape reaches."""
        return levels_reached(draft)


@dataclass(frozen=True)
class Chain(FixedShape):
    """The most confident child of the most confident child: classic speculative decoding, no tree."""

    name = "chain"
    title = "Chain"
    single_path = True

    def preference(self, landscape: Landscape, missing: Set[Path]) -> Iterator[Path]:
        return ((0,) * depth for depth in range(1, MAX_DEPTH + 1))

    def engine_setting(self, budget: int) -> tuple[int, int, int] | None:
        return budget, 1, budget


@dataclass(frozen=True)
class Eagle1(FixedShape):
    """EAGLE-1's 25 published paths; at smaller budgets the best of them by ``RANK_AVERAGES``, at larger ones continued by it.

    >>> from eagle_viz.core.landscape import RankLandscape
    >>> Eagle1()(RankLandscape([0.5, 0.25, 0.125, 0.0625]), budget=25).tree.expected_accepted
    2.265625
    """

    name = "eagle1"
    title = "EAGLE-1 shape"

    def remark(self, draft: Draft) -> str:
        """How many nodes are not EAGLE-1's own: beyond its 25 paths, or in place of ranks that the landscape lacks."""
        ours = len(set(draft.order).difference(EAGLE1_PATHS))
        if not ours:
            return ""
        return (
            f"EAGLE-1's published tree has {len(EAGLE1_PATHS)} nodes: of the {draft.budget} drawn here {ours} "
            f"come{'s' * (ours == 1)} from our continuation of its shape, by average confidence."
        )

    def preference(self, landscape: Landscape, missing: Set[Path]) -> Iterator[Path]:
        published = set(EAGLE1_PATHS)
        yield from sorted(published, key=lambda path: rank_order(value_by_average((RANK_AVERAGES,), path), path))
        yield from (path for path in shape_by_average((RANK_AVERAGES,), missing) if path not in published)


@dataclass(frozen=True)
class BestStatic(FixedShape):
    """The best fixed shape for the average context: best-first on a table of average confidences.

    ``average`` one row of confidences by rank, or a row for each depth (the last serves all deeper levels); None takes the
    landscape's own ``family_average`` and raises ``NoAverageError`` where it has none.
    Law: on the landscape that has the average everywhere no tree of the same budget is worth more.
    """

    name = "best_static"
    title = "Best static shape"
    needs_average = True
    average: tuple | None = None

    def __post_init__(self) -> None:
        if self.average is not None:
            rows = self.average if not isinstance(self.average[0], (int, float)) else (self.average,)
            object.__setattr__(self, "average", average_table(rows))

    def preference(self, landscape: Landscape, missing: Set[Path]) -> Iterator[Path]:
        average = self.average or landscape.family_average()
        if average is None:
            raise NoAverageError("average: best_static needs a table of average confidences, and this landscape knows none")
        return shape_by_average(average, missing)


def shape_by_average(average: AverageTable, missing: Set[Path] = frozenset()) -> Iterator[Path]:
    """Rank paths by the product of their average confidences, best first (Medusa's and OPT-Tree's offline construction).

    Nothing is looked for below a ``missing`` path or among its later siblings, so that a landscape with an end has one here too.
    """
    heap = [rank_order(average[0][0], (0,))]
    while heap:
        path = heapq.heappop(heap)[-1]
        if path[:-1] in missing or (path[-1] and (*path[:-1], path[-1] - 1) in missing):
            continue
        yield path
        for after in (_next_sibling(average, path), _first_child(path)):
            if after is not None:
                heapq.heappush(heap, rank_order(value_by_average(average, after), after))


def _next_sibling(average: AverageTable, path: Path) -> Path | None:
    row = average[min(len(path), len(average)) - 1]
    return (*path[:-1], path[-1] + 1) if path[-1] + 1 < len(row) else None


def _first_child(path: Path) -> Path | None:
    return (*path, 0) if len(path) < MAX_DEPTH else None


def value_by_average(average: AverageTable, path: Path) -> float:
    """Product of the average confidences along a path; the table's last row serves all deeper levels."""
    value = 1.0
    for depth, rank in enumerate(path):
        value *= average[min(depth, len(average) - 1)][rank]
    return value


def _fill(landscape: Landscape, preference: Iterator[Path], missing: set[Path], budget: int) -> list[Path]:
    """The first ``budget`` preferred paths that the landscape has, whole levels asked at a time; notes what is ``missing``."""
    kept: list[Path] = []
    while len(kept) < budget:
        wanted = list(islice(preference, budget - len(kept)))
        if not wanted:
            break
        kept += _available(landscape, wanted, set(kept))
        missing.update(set(wanted).difference(kept))
    return kept


def _available(landscape: Landscape, wanted: Sequence[Path], kept: set[Path]) -> list[Path]:
    present = kept | {ROOT}
    found: set[Path] = set()
    for depth in range(1, max(map(len, wanted)) + 1):
        level = [path for path in wanted if len(path) == depth and path[:-1] in present]
        parents = list(dict.fromkeys(path[:-1] for path in level))
        widths = {parent: len(row) for parent, row in zip(parents, landscape.expand(parents), strict=True)}
        found |= {path for path in level if path[-1] < widths[path[:-1]]}
        present |= found
    return [path for path in wanted if path in found]


def expand_levels(scout: Scout, kept: Sequence[Path]) -> None:
    """One draft pass a level, over the kept nodes that have kept children; a fixed shape scores nothing else."""
    parents = sorted({path[:-1] for path in kept}, key=canonical_order)
    for depth in range(max(map(len, kept), default=0)):
        scout.expand(parent for parent in parents if len(parent) == depth)


def levels_reached(draft: Draft) -> np.ndarray:
    """[draft.budget + 1] int: levels of the tree of the first 0, 1, ... kept nodes."""
    return np.maximum.accumulate([0, *map(len, draft.order)])
