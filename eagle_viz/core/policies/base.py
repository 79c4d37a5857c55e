"""What every policy returns, and what goes wrong when a landscape has fewer nodes than the budget asks for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..landscape import Candidates, Landscape
from ..tree import DraftTree, Node, Path, rank_order

MAX_BUDGET = 4096
MAX_DEPTH = 256
"""Levels no policy passes, so that a landscape without end (confidence 1 for ever) still ends."""


class PoolTooSmallError(ValueError):
    """A policy scored fewer candidates than the budget asks it to keep; ``available`` is how many it has."""

    def __init__(self, policy: str, budget: int, available: int, remedy: str) -> None:
        self.available = available
        self.remedy = remedy
        super().__init__(f"budget: {budget} nodes asked of {policy}, but it scores only {available} candidates here; {remedy}")


@dataclass(frozen=True, eq=False)
class Draft:
    """What a policy did.

    ``scored`` every candidate it scored (a fixed shape prices only what it keeps), ``pool`` the same as a tree, made when first
    asked for; ``frontiers`` the paths expanded in each draft pass; ``order`` the kept paths in reveal order, ancestors first;
    ``tree`` the kept nodes; ``passes`` the draft passes this policy needs by itself (a landscape's memo does not make them fewer).
    Law: every prefix of ``order`` is a tree.
    """

    policy: str
    budget: int
    scored: Mapping[Path, Node]
    frontiers: tuple[tuple[Path, ...], ...]
    order: tuple[Path, ...]
    tree: DraftTree

    @cached_property
    def pool(self) -> DraftTree:
        """Every candidate that was scored, as a tree."""
        return DraftTree.from_nodes(self.scored.values(), int(self.tree.tokens[0]))

    @property
    def passes(self) -> int:
        """Draft passes made for this tree by itself: one a frontier."""
        return len(self.frontiers)


class Policy(ABC):
    """Frozen parameters and one verb: spend ``budget`` nodes (root not counted) on a landscape.

    ``nested``: whether its choice at budget N holds its choice at every smaller budget, so that one run serves them all.
    ``reason``: why it keeps a node, for a sentence; ``{left}`` stands for the candidates that were still to choose from.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    nested: ClassVar[bool] = True
    reason: ClassVar[str]

    @abstractmethod
    def __call__(self, landscape: Landscape, budget: int) -> Draft:
        """Draft exactly ``budget`` nodes; raises ``PoolTooSmallError`` where there are fewer, ``ValueError`` for a bad budget."""


class Scout:
    """The bookkeeping of one drafting: expands frontiers, remembers each one and every candidate it scored."""

    def __init__(self, landscape: Landscape, top_k: int | None = None) -> None:
        self.landscape = landscape
        self.top_k = top_k
        self.frontiers: list[tuple[Path, ...]] = []
        self.nodes: dict[Path, Node] = {}
        self.values: dict[Path, float] = {(): 1.0}

    def expand(self, frontier: Iterable[Path]) -> list[Path]:
        """One draft pass: score the (top k) candidates of each frontier path; the paths scored, frontier by frontier."""
        frontier = tuple(frontier)
        self.frontiers.append(frontier)
        scored = []
        for path, candidates in zip(frontier, self.landscape.expand(frontier), strict=True):
            scored += self._score(path, candidates)
        return scored

    def _score(self, path: Path, candidates: Candidates) -> list[Path]:
        tokens, confidences = candidates.tokens[: self.top_k].tolist(), candidates.confidences[: self.top_k].tolist()
        children = []
        for rank, (token, confidence) in enumerate(zip(tokens, confidences, strict=True)):
            child = (*path, rank)
            self.nodes[child] = Node(child, token, confidence)
            self.values[child] = self.values[path] * confidence
            children.append(child)
        return children

    def by_value(self, paths: Iterable[Path]) -> list[Path]:
        """Sort paths by the strict total order: value descending, then shallower, then lexicographically smaller."""
        return sorted(paths, key=lambda path: rank_order(self.values[path], path))

    def draft(self, policy: str, order: Iterable[Path]) -> Draft:
        """Close the books: the pool, and the tree of the kept paths in this reveal order."""
        order = tuple(order)
        tree = DraftTree.from_nodes((self.nodes[path] for path in order), self.landscape.root_token)
        return Draft(policy, len(order), self.nodes, tuple(self.frontiers), order, tree)


def check_budget(budget: int) -> int:
    """A budget is a whole number of drafted nodes, 0 to 4096, the root not counted; raises ``ValueError`` otherwise."""
    return check_whole("budget", budget, 0, MAX_BUDGET)


def check_whole(name: str, value: int, low: int, high: int) -> int:
    """Return ``value`` as an int, or raise ``ValueError`` naming the field, the value and what is allowed."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ValueError(f"{name}: {value!r} given, allowed is a whole number from {low} to {high}")
    return int(value)
