"""The bookkeeping of a drafting that scores whole layers: columns of numbers, paths only where they are asked for."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

import numpy as np

from ..landscape import Block, Landscape
from ..tree import ROOT, DraftTree, OrphanError, Path
from .base import Draft, Policy


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
        self._blocks: list[Block] = []
        self._values: list[np.ndarray] = []
        self._paths: dict[int, Path] = {0: ROOT}

    def expand(self, frontier: np.ndarray) -> None:
        """One draft pass: score the (top k) candidates of these rows of the newest layer, which become the newest one."""
        self.expanded.append(frontier)
        rows = frontier.copy()
        rows.sort()
        block = self.landscape.expand_block(self.paths(rows), self.top_k)
        above = self.values[rows - self.first]
        self.first += len(self.values)
        self.confidences = block.confidences
        self.values = above.repeat(block.counts) * block.confidences
        self._parents.append(rows)
        self._blocks.append(block)
        self._values.append(self.values)

    def paths(self, rows: np.ndarray) -> list[Path]:
        """Paths of rows of the newest layer, in this order."""
        wanted = rows.tolist()
        if self.expanded and self._blocks:
            parents, ends = self._parents[-1].tolist(), [0, *accumulate(self._blocks[-1].counts)]
            for row in wanted:
                place = row - self.first
                parent = bisect_right(ends, place) - 1
                self._paths[row] = (*self._paths[parents[parent]], place - ends[parent])
        return [self._paths[row] for row in wanted]

    def scored(self) -> np.ndarray:
        """[rows - 1] float64: values of all rows but the root's."""
        return np.concatenate(self._values)

    def rank_averages(self) -> np.ndarray:
        """[widest node] float64: mean confidence by rank over the nodes expanded so far, each weighted by its value."""
        counts = np.concatenate([block.counts for block in self._blocks])
        weights = np.concatenate(([1.0], *self._values))[np.concatenate(self._parents)]
        ranks = np.arange(counts.sum()) - (counts.cumsum() - counts).repeat(counts)
        confidences = np.concatenate([block.confidences for block in self._blocks])
        return np.bincount(ranks, weights.repeat(counts) * confidences) / max(weights.sum(), np.finfo(float).tiny)

    # -- what a draft asks for, once the drafting is over --------------------------------------------------------------

    def draft(self, policy: Policy, order: np.ndarray) -> Draft:
        """Close the books: the tree of the kept rows, in this reveal order."""
        return Draft(policy, len(order), self, order, self.tree(order))

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Of every expanded node, pass by pass: its row, the row of its first candidate, the tokens of its candidates."""
        counts = np.concatenate([block.counts for block in self._blocks])
        tokens = [row for block in self._blocks for row in block.tokens]
        return np.concatenate(self._parents), 1 + counts.cumsum() - counts, tokens

    def _parents_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
        """Parents, ranks and tokens of scored rows; a node without candidates starts where the next one does."""
        expanded, starts, tokens = self._nodes
        nodes = starts.searchsorted(rows, side="right") - 1
        ranks = rows - starts[nodes]
        return expanded[nodes], ranks, [tokens[node][rank] for node, rank in zip(nodes.tolist(), ranks.tolist(), strict=True)]

    def tree(self, rows: np.ndarray) -> DraftTree:
        """The root and these rows as a tree; raises ``OrphanError`` where a row's parent is not among them."""
        rows = np.sort(rows)
        parents, ranks, tokens = self._parents_of(rows)
        known = np.concatenate(([0], rows))
        numbers = known.searchsorted(parents)
        if (known[numbers] != parents).any():
            raise OrphanError("a node is kept without its parent")
        return DraftTree(
            [self.landscape.root_token, *tokens],
            np.concatenate(([-1], numbers)),
            np.concatenate(([-1], ranks)),
            np.concatenate(([1.0], np.concatenate([block.confidences for block in self._blocks])[rows - 1])),
        )

    @property
    def passes(self) -> int:
        """Draft passes made: one a frontier."""
        return len(self.expanded)

    def pool(self) -> DraftTree:
        """Every candidate that was scored, as a tree."""
        return self.tree(np.arange(1, self.first + len(self.values)))

    def path_of(self, kept: np.ndarray) -> tuple[Path, ...]:
        """Paths of scored rows, in this order; every parent was expanded, so its path is known."""
        parents, ranks, _ = self._parents_of(kept)
        return tuple((*self._paths[parent], rank) for parent, rank in zip(parents.tolist(), ranks.tolist(), strict=True))

    def frontiers(self) -> tuple[tuple[Path, ...], ...]:
        """The paths expanded in each pass, most wanted first."""
        return tuple(tuple(self._paths[row] for row in frontier.tolist()) for frontier in self.expanded)


def greatest(worth: np.ndarray, count: int) -> np.ndarray:
    """Indices of the ``count`` greatest entries, greatest first; of equal ones the smaller index first.

    >>> greatest(np.array([0.2, 0.5, 0.1, 0.5]), 3).tolist()
    [1, 3, 0]
    """
    if not 0 < count < len(worth):
        return (-worth).argsort(kind="stable")[:count]
    least = np.partition(worth, len(worth) - count)[len(worth) - count]
    enough = (worth >= least).nonzero()[0]
    return enough[(-worth[enough]).argsort(kind="stable")[:count]]
