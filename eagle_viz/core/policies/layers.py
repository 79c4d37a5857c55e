"""The bookkeeping of a drafting that scores whole layers: columns of numbers, paths only where they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..landscape import AT_ROOT, Block, Frontier, Landscape
from ..tree import DraftTree, OrphanError, Path
from .base import Draft, Policy

_ROOT_ROW, _ABOVE_ROOT, _ROOT_VALUE = np.zeros(1, dtype=np.int64), np.full(1, -1), np.ones(1)


class Layers:
    """Every candidate scored so far, a row each; row 0 is the root.

    Each pass expands rows of the newest layer in row order, so rows are numbered as ``DraftTree`` numbers nodes: level by level,
    lexicographically within a level. Hence the smaller row wins a tie of values: it is shallower, or of the smaller path.

    ``values`` and ``confidences`` [newest layer] float64 are those of the newest layer, whose first row is ``first``.
    """

    def __init__(self, landscape: Landscape, top_k: int | None = None) -> None:
        self.landscape = landscape
        self.top_k = top_k
        self.expanded: list[np.ndarray] = []
        self.first = 0
        self.values = self.confidences = np.ones(1)
        self._parents: list[np.ndarray] = []
        self._passes: list[Frontier] = []
        self._blocks: list[Block] = []
        self._values: list[np.ndarray] = []

    def expand(self, frontier: np.ndarray) -> None:
        """One draft pass: score the (top k) candidates of these rows of the newest layer, which become the newest one."""
        self.expanded.append(frontier)
        rows = frontier.copy()
        rows.sort()
        places = rows - self.first
        nodes = self._frontier(places)
        block = self.landscape.expand_block(nodes, self.top_k)
        above = self.values.take(places)
        self.first += len(self.values)
        self.confidences = block.confidences
        self.values = above.repeat(block.counts) * block.confidences
        self._parents.append(rows)
        self._passes.append(nodes)
        self._blocks.append(block)
        self._values.append(self.values)

    def descend(self, levels: int, width: int, goes_on: Callable[[np.ndarray], bool]) -> None:
        """At most ``levels`` draft passes, each on the ``width`` most valuable rows of the newest layer, best first.

        Ends where a layer is empty, or where ``goes_on(values)`` of that beam [at most ``width``] says so.
        """
        frontier = np.zeros(1, dtype=np.int64)
        for _ in range(levels):
            self.expand(frontier)
            beam = greatest(self.values, width)
            if not len(beam) or not goes_on(self.values[beam]):
                break
            frontier = self.first + beam

    def _frontier(self, places: np.ndarray) -> Frontier:
        """Nodes of the newest layer, by their places in it, as the nodes of a draft pass."""
        if not self._passes:
            return AT_ROOT
        counts = self._blocks[-1].counts
        if isinstance(counts, int):
            return self._passes[-1].below(*np.divmod(places, counts))
        ends = counts.cumsum()
        parents = ends.searchsorted(places, side="right")
        return self._passes[-1].below(parents, places - (ends - counts)[parents])

    @property
    def size(self) -> int:
        """Rows so far, the root counted."""
        return self.first + len(self.values)

    def paths(self, rows: np.ndarray) -> list[Path]:
        """Paths of rows of the newest layer, in this order."""
        return self._frontier(rows - self.first).paths

    def scored(self) -> np.ndarray:
        """[rows - 1] float64: values of all rows but the root's."""
        return np.concatenate(self._values)

    def rank_averages(self) -> np.ndarray:
        """[widest node] float64: mean confidence by rank over the nodes expanded so far, each weighted by its value."""
        counts = self._counts
        weights = np.concatenate(([1.0], *self._values))[np.concatenate(self._parents)]
        ranks = np.arange(counts.sum()) - (counts.cumsum() - counts).repeat(counts)
        confidences = np.concatenate([block.confidences for block in self._blocks])
        return np.bincount(ranks, weights.repeat(counts) * confidences) / max(weights.sum(), np.finfo(float).tiny)

    # -- what a draft asks for, once the drafting is over --------------------------------------------------------------

    def draft(self, policy: Policy, order: np.ndarray) -> Draft:
        """Close the books: the tree of the kept rows, in this reveal order."""
        return Draft(policy, len(order), self, order, self.tree(order))

    @property
    def _counts(self) -> np.ndarray:
        """[expanded nodes] candidates of each, pass by pass."""
        each = [np.full(len(rows), block.counts) for block, rows in zip(self._blocks, self._parents, strict=True)]
        return np.concatenate(each)

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Of every expanded node, pass by pass: its row and the row of its first candidate."""
        counts = self._counts
        return np.concatenate(self._parents), 1 + counts.cumsum() - counts

    def _parents_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Parents and ranks of scored rows; a node without candidates starts where the next one does."""
        width = self._blocks[0].counts
        if isinstance(width, int) and all(block.counts is width for block in self._blocks):
            nodes, ranks = np.divmod(rows - 1, width)
            return np.concatenate(self._parents).take(nodes), ranks
        expanded, starts = self._nodes
        nodes = starts.searchsorted(rows, side="right") - 1
        return expanded[nodes], rows - starts[nodes]

    def tree(self, rows: np.ndarray) -> DraftTree:
        """The root and these rows as a tree; raises ``OrphanError`` where a row's parent is not among them."""
        kept = np.concatenate((_ROOT_ROW, rows))
        kept.sort()
        parents, ranks = self._parents_of(kept[1:])
        numbers = kept.searchsorted(parents)
        if np.logical_or.reduce(kept.take(numbers) != parents):
            raise OrphanError("a node is kept without its parent")
        return DraftTree(
            np.concatenate([[self.landscape.root_token], *(block.tokens for block in self._blocks)]).take(kept),
            np.concatenate((_ABOVE_ROOT, numbers)),
            np.concatenate((_ABOVE_ROOT, ranks)),
            np.concatenate([_ROOT_VALUE, *(block.confidences for block in self._blocks)]).take(kept),
        )

    @property
    def passes(self) -> int:
        """Draft passes made: one a frontier."""
        return len(self.expanded)

    def pool(self) -> DraftTree:
        """Every candidate that was scored, as a tree."""
        return self.tree(np.arange(1, self.size))

    @cached_property
    def _paths(self) -> dict[int, Path]:
        """Path of every expanded row."""
        return {
            row: path
            for rows, nodes in zip(self._parents, self._passes, strict=True)
            for row, path in zip(rows.tolist(), nodes.paths, strict=True)
        }

    def path_of(self, kept: np.ndarray) -> tuple[Path, ...]:
        """Paths of scored rows, in this order; every parent was expanded, so its path is known."""
        parents, ranks = self._parents_of(kept)
        return tuple((*self._paths[parent], rank) for parent, rank in zip(parents.tolist(), ranks.tolist(), strict=True))

    def frontiers(self) -> tuple[tuple[Path, ...], ...]:
        """The paths expanded in each pass, most wanted first."""
        return tuple(tuple(self._paths[row] for row in frontier.tolist()) for frontier in self.expanded)


SHORT = 256
"""Entries up to which sorting them all is quicker than looking for the greatest first."""


def greatest(worth: np.ndarray, count: int) -> np.ndarray:
    """Indices of the ``count`` greatest entries, greatest first; of equal ones the smaller index first.

    >>> greatest(np.array([0.2, 0.5, 0.1, 0.5]), 3).tolist()
    [1, 3, 0]
    """
    if len(worth) <= SHORT or not 0 < count < len(worth):
        return (-worth).argsort(kind="stable")[:count]
    least = np.partition(worth, len(worth) - count)[len(worth) - count]
    enough = (worth >= least).nonzero()[0]
    return enough[(-worth[enough]).argsort(kind="stable")[:count]]
