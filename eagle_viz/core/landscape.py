"""Confidence landscapes: who follows whom with what confidence. The one seam between policies and any model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from .hashing import child_hashes, hashed_confidences, node_hashes, on_grid, synthetic_confidences
from .tree import NO_TOKEN, ROOT, Path, path_name

AverageTable = tuple[tuple[float, ...], ...]
"""Average confidence by (depth, rank): row d is level d + 1, the last row serves every deeper level."""


class NotRecordedError(LookupError):
    """A recording was asked for candidates that it does not hold."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The scored children of one node, most confident first: rank r is index r.

    ``tokens`` [m] int64, ``confidences`` [m] float64 in [0, 1], not increasing, summing to at most 1.
    ``target_probabilities`` [m] float64: the target's own probability of the same tokens at the same place, where it is known.
    """

    tokens: np.ndarray
    confidences: np.ndarray
    target_probabilities: np.ndarray | None = None

    def __post_init__(self) -> None:
        if np.shape(self.tokens) != np.shape(self.confidences):
            raise ValueError(f"candidates: {np.size(self.tokens)} tokens against {np.size(self.confidences)} confidences")
        if (self.confidences[1:] > self.confidences[:-1]).any():
            raise ValueError("confidences: candidates come most confident first, these rise")

    def __len__(self) -> int:
        return len(self.confidences)


@dataclass(frozen=True, eq=False)
class Frontier:
    """The nodes of one draft pass: n nodes of one level, in columns; their paths are made when first asked for.

    ``ranks`` [n] int64 of each below its parent, ``parents`` [n] int64 the parent's place in ``above``, the frontier before.
    The root alone has no ``above``.
    """

    ranks: np.ndarray
    parents: np.ndarray
    above: Frontier | None = None
    level: int = 0

    def below(self, parents: np.ndarray, ranks: np.ndarray) -> Frontier:
        """The frontier of these children, one level down."""
        return Frontier(ranks, parents, self, self.level + 1)

    @cached_property
    def paths(self) -> list[Path]:
        """Path of each node, in order."""
        if self.above is None:
            return [ROOT]
        above = self.above.paths
        return [(*above[parent], rank) for parent, rank in zip(self.parents.tolist(), self.ranks.tolist(), strict=True)]


AT_ROOT = Frontier(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
"""The frontier of the first draft pass: the root alone."""


class Block(NamedTuple):
    """The candidates of several nodes in flat columns, node after node, each node's most confident first.

    ``confidences`` [all] float64, ``tokens`` [all] int64, ``counts`` [nodes] int64 candidates of each node, or one number where
    all have as many.
    """

    confidences: np.ndarray
    tokens: np.ndarray
    counts: np.ndarray | int


class Landscape(ABC):
    """For every path its candidates. One call of ``expand`` is one draft pass over a frontier of paths.

    Memoised and deterministic: the same path always has the same candidates, whatever was asked before.
    """

    root_token: int = NO_TOKEN

    @cached_property
    def _memo(self) -> dict[Path, Candidates]:
        return {}

    @property
    def expanded(self) -> Mapping[Path, Candidates]:
        """Everything expanded so far, by path."""
        return self._memo

    def expand(self, paths: Sequence[Path]) -> list[Candidates]:
        """The candidates of each path, in the order asked."""
        memo = self._memo
        missing = [path for path in paths if path not in memo]
        if missing:
            missing = list(dict.fromkeys(missing))
            memo.update(zip(missing, self._expand(missing), strict=True))
        return [memo[path] for path in paths]

    def expand_block(self, frontier: Frontier, top_k: int | None = None) -> Block:
        """The ``top_k`` most confident candidates of each node of a frontier (None: all), as columns.

        A landscape that knows its numbers in columns may answer without making a path. Law: the same numbers as ``expand``.
        """
        found = self.expand(frontier.paths)
        confidences = [row.confidences[:top_k] for row in found]
        tokens = [row.tokens[:top_k] for row in found]
        return Block(np.concatenate(confidences), np.concatenate(tokens), np.array([len(row) for row in tokens]))

    @abstractmethod
    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        """Candidates of paths that were not asked for before."""

    def token_text(self, token: int) -> str | None:
        """What a token reads as, or None in a landscape without a vocabulary."""
        return None

    def family_average(self) -> AverageTable | None:
        """Average confidence by (depth, rank) over the contexts this landscape is one of, or None where that is unknown."""
        return None


@dataclass(frozen=True)
class SyntheticLandscape(Landscape):
    """A random landscape: each node's candidates have logits z ~ N(0, 1) and confidences coverage * softmax(sharpness * z).

    z is a counter-based hash of (seed, rank path), so the order of expansion never matters, and one seed keeps its z for every
    sharpness: moving the slider morphs one landscape. ``seed`` 0 .. 2^32 - 1, ``sharpness`` 0 .. 10 (0 = all alike),
    ``branching`` 1 .. 64 candidates a node, ``coverage`` in (0, 1]: the chance that the true next token is among the candidates.
    Raises ``ValueError`` naming the field outside these.

    >>> SyntheticLandscape(seed=7, sharpness=2.5).expand([()])[0].confidences.round(2).tolist()
    [0.61, 0.25, 0.09, 0.04]
    """

    seed: int = 7
    sharpness: float = 2.5
    branching: int = 4
    coverage: float = 1.0

    def __post_init__(self) -> None:
        _check_range("seed", self.seed, 0, 2**32 - 1, whole=True)
        _check_range("sharpness", self.sharpness, 0, 10)
        _check_range("branching", self.branching, 1, 64, whole=True)
        _check_range("coverage", self.coverage, 0, 1)
        if self.coverage == 0:
            raise ValueError("coverage: 0 given, allowed is above 0, up to 1")

    @cached_property
    def _hashes(self) -> dict[Path, int]:
        return {}

    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        for path in paths:
            if path and not 0 <= min(path) <= max(path) < self.branching:
                for depth, rank in enumerate(path):
                    _check_rank(path[: depth + 1], rank, self.branching)
        table = hashed_confidences(self._hashes_of(paths), self.sharpness, self.branching, self.coverage)
        tokens = np.full(self.branching, NO_TOKEN, dtype=np.int64)
        return [Candidates(tokens, row) for row in table]

    def _hashes_of(self, paths: Sequence[Path]) -> np.ndarray:
        """[paths] uint64: one step from the parents' hashes where all were asked for before, along the whole paths otherwise."""
        if all(path and path[:-1] in self._hashes for path in paths):
            parents = np.array([self._hashes[path[:-1]] for path in paths], dtype=np.uint64)
            hashes = child_hashes(parents, np.array([path[-1] for path in paths], dtype=np.uint64))
        else:
            hashes = node_hashes([self.seed], paths)[0]
        self._hashes.update(zip(paths, hashes.tolist(), strict=True))
        return hashes

    def family_average(self) -> AverageTable:
        """Mean confidence by rank over a fixed set of 4,096 other seeds at this sharpness, branching and coverage."""
        return (_synthetic_average(self.sharpness, self.branching, self.coverage),)


@dataclass(frozen=True)
class RankLandscape(Landscape):
    """The same children everywhere (one list), or the same at each depth (a list of lists; the last serves all deeper levels).

    Confidence 0 is legal. Raises ``ValueError`` where a list is empty, rises, leaves [0, 1] or sums to more than 1.

    >>> RankLandscape([0.6, 0.2]).expand([(0, 1)])[0].confidences.tolist()
    [0.6, 0.2]
    """

    confidences: tuple

    def __post_init__(self) -> None:
        rows = self.confidences
        rows = [rows] if len(rows) and np.isscalar(rows[0]) else rows
        object.__setattr__(self, "confidences", average_table(rows))

    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        return [self._children(path) for path in paths]

    def _children(self, path: Path) -> Candidates:
        for depth, rank in enumerate(path):
            _check_rank(path[: depth + 1], rank, len(self._row(depth)))
        row = np.array(self._row(len(path)))
        return Candidates(np.full(len(row), NO_TOKEN, dtype=np.int64), row)

    def _row(self, depth: int) -> tuple[float, ...]:
        return self.confidences[min(depth, len(self.confidences) - 1)]

    def family_average(self) -> AverageTable:
        """The list itself: every context of this landscape is the average one."""
        return self.confidences


@dataclass(frozen=True, eq=False)
class RecordedLandscape(Landscape):
    """Candidates that were recorded from a real drafter; knows nothing beyond them.

    ``candidates`` maps each recorded path to its candidates, ``texts`` token ids to what they read as, ``average`` is the table
    of the *other* recordings. Raises ``NotRecordedError`` for a path that was not expanded when the recording was made.
    """

    candidates: Mapping[Path, Candidates]
    root_token: int = NO_TOKEN
    texts: Mapping[int, str] | None = None
    average: AverageTable | None = None

    def __post_init__(self) -> None:
        if ROOT not in self.candidates:
            raise ValueError("candidates: a recording needs at least the root's candidates, path () is missing")

    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        for path in paths:
            if path not in self.candidates:
                raise NotRecordedError(
                    f"path {path_name(path)}: not in this recording; ask for a smaller budget, top_k or max_depth"
                )
        return [self.candidates[path] for path in paths]

    def token_text(self, token: int) -> str | None:
        return None if self.texts is None else self.texts.get(token)

    def family_average(self) -> AverageTable | None:
        return self.average


def average_table(rows: Sequence[Sequence[float]]) -> AverageTable:
    """Validate rows of confidences by rank, one row a depth; raises ``ValueError`` naming the row and what is allowed."""
    if not len(rows) or any(not len(row) for row in rows):
        raise ValueError("confidences: an empty list given, at least one confidence a level is needed")
    table = tuple(tuple(float(value) for value in row) for row in rows)
    for depth, row in enumerate(table, start=1):
        if not all(0 <= value <= 1 for value in row):
            raise ValueError(f"confidences: level {depth} holds {row}, allowed is 0 to 1")
        if any(after > before for before, after in zip(row, row[1:], strict=False)):
            raise ValueError(f"confidences: level {depth} holds {row}, allowed is most confident first")
        if sum(row) > 1 + 1e-9:
            raise ValueError(f"confidences: level {depth} sums to {sum(row):.6g}, allowed is at most 1")
    return table


_AVERAGE_SEEDS = range(2**32 - 4096, 2**32)


@lru_cache(maxsize=256)
def _synthetic_average(sharpness: float, branching: int, coverage: float) -> tuple[float, ...]:
    table = synthetic_confidences(_AVERAGE_SEEDS, [ROOT], sharpness, branching, coverage)
    return tuple(on_grid(table.mean(axis=(0, 1))).tolist())


def _check_rank(path: Path, rank: int, width: int) -> None:
    if not 0 <= rank < width:
        raise ValueError(f"path {path_name(path)}: rank {rank} given, allowed is 0 to {width - 1} among {width} candidates")


def _check_range(name: str, value: float, low: float, high: float, whole: bool = False) -> None:
    kind = "a whole number" if whole else "a number"
    try:
        inside = low <= value <= high and (not whole or value == int(value))
    except (TypeError, ValueError):
        inside = False
    if not inside:
        raise ValueError(f"{name}: {value!r} given, allowed is {kind} from {low} to {high}")
