"""The draft tree: which tokens are guessed, who follows whom, and the buffers one verify pass needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

Path = tuple[int, ...]
"""Child ranks from the root, 0 = most confident; ``()`` is the root. A node's identity in every tree over one landscape."""

ROOT: Path = ()
NO_TOKEN = -1
"""Token id of a node in a landscape that has no vocabulary (synthetic ones)."""


class OrphanError(ValueError):
    """A node was kept without its parent, so the kept set is not a tree."""


class Node(NamedTuple):
    """One drafted node: its rank path, its token id, and the drafter's probability of it given its path."""

    path: Path
    token: int
    confidence: float


def sendable(text: str) -> str:
    """The text with half characters (lone surrogates) replaced, so that it can be written as UTF-8.

    >>> sendable("a\\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def path_name(path: Path) -> str:
    """Write a path the way links, files and the page do: ``(0, 2, 1)`` is ``"0.2.1"``, the root ``"root"``."""
    return ".".join(map(str, path)) if path else "root"


def rank_order(value: float, path: Path) -> tuple[float, int, Path]:
    """Sort key of the strict total order: value descending, then shallower, then lexicographically smaller path.

    A child is never worth more than its parent and always deeper, so an ancestor sorts before its descendants, ties included.
    """
    return (-value, len(path), path)


def in_canonical_order(paths: Iterable[Path]) -> list[Path]:
    """Paths sorted by ``canonical_order``, without a key made for each.

    >>> in_canonical_order([(0, 1), (1,), (0, 0), (0,)])
    [(0,), (1,), (0, 0), (0, 1)]
    """
    return sorted(sorted(paths), key=len)


def canonical_order(path: Path) -> tuple[int, Path]:
    """Sort key of node numbering: level by level from the root, lexicographic within a level."""
    return (len(path), path)


@dataclass(frozen=True, eq=False)
class DraftTree:
    """A rooted tree of n nodes, parents before children; node 0 is the root, the last committed token, and is not drafted.

    Arrays of length n: ``tokens`` int64 (``NO_TOKEN`` where there is no vocabulary), ``parents`` int64 (-1 for the root),
    ``ranks`` int64 (rank among all candidates of the parent; -1 for the root), ``confidences`` float64 in [0, 1] (root: 1).
    n = drafted nodes + 1. Raises ``ValueError`` where an array breaks these rules, ``OrphanError`` for a missing parent.

    Law: ``values[child] <= values[parent]``.
    """

    tokens: np.ndarray
    parents: np.ndarray
    ranks: np.ndarray
    confidences: np.ndarray

    def __post_init__(self) -> None:
        for name, dtype in (("tokens", np.int64), ("parents", np.int64), ("ranks", np.int64), ("confidences", np.float64)):
            array = np.array(getattr(self, name), dtype=dtype)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        _check_lengths(self)
        _check_parents(self.parents)
        _check_confidences(self.confidences)
        _check_siblings(self.parents, self.ranks)

    @classmethod
    def from_nodes(cls, nodes: Iterable[Node], root_token: int = NO_TOKEN) -> DraftTree:
        """Number the nodes level by level (lexicographic within a level) under a root; raises ``OrphanError``.

        >>> DraftTree.from_nodes([Node((0, 0), -1, 0.5), Node((0,), -1, 0.8)]).values.tolist()
        [1.0, 0.8, 0.4]
        """
        ordered = sorted(nodes, key=lambda node: canonical_order(node.path))
        index = {ROOT: 0} | {node.path: i for i, node in enumerate(ordered, start=1)}
        for node in ordered:
            if node.path[:-1] not in index:
                raise OrphanError(f"node {path_name(node.path)} is kept without its parent {path_name(node.path[:-1])}")
        return cls(
            tokens=[root_token, *(node.token for node in ordered)],
            parents=[-1, *(index[node.path[:-1]] for node in ordered)],
            ranks=[-1, *(node.path[-1] for node in ordered)],
            confidences=[1.0, *(node.confidence for node in ordered)],
        )

    def __len__(self) -> int:
        """Number of nodes, the root counted."""
        return len(self.parents)

    @property
    def budget(self) -> int:
        """Number of drafted nodes, the root not counted."""
        return len(self) - 1

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """Rank path of each node, ``()`` first."""
        paths: list[Path] = [ROOT]
        for parent, rank in zip(self.parents[1:].tolist(), self.ranks[1:].tolist(), strict=True):
            paths.append((*paths[parent], rank))
        return tuple(paths)

    @cached_property
    def index(self) -> dict[Path, int]:
        """Node index of each rank path."""
        return {path: i for i, path in enumerate(self.paths)}

    @cached_property
    def depths(self) -> np.ndarray:
        """[n] int64, levels below the root (root: 0)."""
        return np.add.reduce(self._climb >= 0, axis=0, dtype=np.int64) - 1

    @property
    def depth(self) -> int:
        """Length of the longest path, the root not counted."""
        return int(self.depths.max())

    @cached_property
    def values(self) -> np.ndarray:
        """[n] float64, product of the confidences on the path (root: 1); a plain product, never a sum of logarithms."""
        values = [1.0]
        for parent, confidence in zip(self.parents[1:].tolist(), self.confidences[1:].tolist(), strict=True):
            values.append(values[parent] * confidence)
        return np.array(values)

    @property
    def expected_accepted(self) -> float:
        """Expected number of accepted drafted tokens in one pass, bonus token not counted: the sum of the drafted nodes' values.

        The sum is exactly rounded, so it does not depend on the order of the nodes.
        """
        return math.fsum(self.values[1:].tolist())

    @cached_property
    def leaves(self) -> np.ndarray:
        """Indices of the nodes without a child, in node order; a bare root has none (it is not drafted)."""
        childless = np.ones(len(self), dtype=bool)
        childless[0] = False
        childless[self.parents[1:]] = False
        return np.flatnonzero(childless)

    @cached_property
    def _climb(self) -> np.ndarray:
        """[depth + 1, n] int64: for each node itself, its parent, its parent's parent, ..., -1 above the root."""
        above = np.concatenate((self.parents, (-1,)))  # -1, the root's parent, is the index of the last entry: -1 again
        climb = [np.arange(len(self))]
        while np.maximum.reduce(step := above.take(climb[-1])) >= 0:
            climb.append(step)
        return np.array(climb)

    def ancestry(self, node: int) -> list[int]:
        """Node indices from the root to ``node``, both included."""
        return self._climb[self.depths[node] :: -1, node].tolist()

    def children(self, node: int) -> list[int]:
        """Node indices of the kept children, by rank."""
        found = np.flatnonzero(self.parents == node).tolist()
        return sorted(found, key=lambda child: int(self.ranks[child]))

    def mask(self) -> np.ndarray:
        """[n, n] bool tree mask: row i attends to column j where j is i or an ancestor of i.

        Law: each row has depth + 1 trues; EAGLE-1's 25 nodes and root sum to 92.
        """
        mask = np.zeros((len(self), len(self) + 1), dtype=bool)  # -1 above the root marks the last column, which is cut off
        mask[np.arange(len(self)), self._climb] = True
        return mask[:, :-1].copy()

    def position_ids(self) -> np.ndarray:
        """[n] int64: depth of each node, to be added to the position of the root."""
        return self.depths.copy()

    def retrieve_indices(self) -> np.ndarray:
        """[leaves, depth + 1] int64: each row the node indices from the root to a leaf, padded with -1."""
        levels = self.depths.take(self.leaves)[:, None] - np.arange(len(self._climb))  # how far above its leaf each entry lies
        return np.where(levels >= 0, self._climb[levels, self.leaves[:, None]], -1)

    def nodes(self) -> list[Node]:
        """The drafted nodes in node order, the root left out."""
        columns = zip(self.paths[1:], self.tokens[1:].tolist(), self.confidences[1:].tolist(), strict=True)
        return [Node(*column) for column in columns]

    def keep(self, paths: Iterable[Path]) -> DraftTree:
        """The subtree of these drafted paths; raises ``OrphanError`` for a missing parent, ``KeyError`` for an unknown path."""
        rows = [self.index[path] for path in paths]
        nodes = [Node(self.paths[i], int(self.tokens[i]), float(self.confidences[i])) for i in rows]
        return DraftTree.from_nodes(nodes, root_token=int(self.tokens[0]))

    def text(self, labels: Sequence[str] | None = None) -> str:
        """Draw the tree as indented text, a node a line: its label (default: rank path), confidence and value.

        >>> print(DraftTree.from_nodes([Node((0,), -1, 0.8), Node((0, 1), -1, 0.5)]).text())
        root
        └─ 0  0.800  1 x 0.800 = 0.800
           └─ 0.1  0.500  0.800 x 0.500 = 0.400
        """
        names = labels or [path_name(path) for path in self.paths]
        lines = [names[0]]
        self._draw(0, "", names, lines)
        return "\n".join(lines)

    def _draw(self, node: int, indent: str, names: Sequence[str], lines: list[str]) -> None:
        children = self.children(node)
        for child in children:
            last = child == children[-1]
            above = "1" if node == 0 else f"{self.values[node]:.3f}"
            price = f"{self.confidences[child]:.3f}  {above} x {self.confidences[child]:.3f} = {self.values[child]:.3f}"
            lines.append(f"{indent}{'└─ ' if last else '├─ '}{names[child]}  {price}")
            self._draw(child, indent + ("   " if last else "│  "), names, lines)


def _check_lengths(tree: DraftTree) -> None:
    lengths = {len(tree.tokens), len(tree.parents), len(tree.ranks), len(tree.confidences)}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError(f"tree arrays: need one common length of at least 1 (the root), got {sorted(lengths)}")


def _check_parents(parents: np.ndarray) -> None:
    if parents[0] != -1:
        raise ValueError(f"parents: node 0 is the root and has parent -1, got {parents[0]}")
    wrong = (parents[1:] < 0) | (parents[1:] >= np.arange(1, len(parents)))
    if np.logical_or.reduce(wrong):
        node = int(np.argmax(wrong)) + 1
        raise OrphanError(f"parents: node {node} needs a parent in 0..{node - 1}, got {parents[node]}")


def _check_siblings(parents: np.ndarray, ranks: np.ndarray) -> None:
    rising = (parents[1:] > parents[:-1]) | (ranks[1:] > ranks[:-1]) & (parents[1:] == parents[:-1])
    if not np.logical_and.reduce(rising) and len(set(zip(parents.tolist(), ranks.tolist(), strict=True))) != len(parents):
        raise ValueError("ranks: two nodes have the same rank path; siblings need different ranks")


def _check_confidences(confidences: np.ndarray) -> None:
    if not (np.minimum.reduce(confidences) >= 0 and np.maximum.reduce(confidences) <= 1):  # NaN is neither
        node = int(np.argmin((confidences >= 0) & (confidences <= 1)))
        raise ValueError(f"confidences: node {node} has {confidences[node]}, allowed is 0 to 1")
