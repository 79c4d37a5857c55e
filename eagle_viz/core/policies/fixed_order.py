"""A fixed shape of one's own: rank paths in a given order, as a file or EAGLE's and Medusa's lists of ``choices`` name them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from ..landscape import Landscape
from ..tree import Path, canonical_order, path_name
from .base import MAX_BUDGET, MAX_DEPTH
from .fixed import FixedShape

MAX_RANK = 1023
"""More candidates than any drafter gives a node."""
EXAMPLE = "[[0], [0, 0], [1]]"
_MOST_TEXT = 2**18


@dataclass(frozen=True)
class FixedOrder(FixedShape):
    """Keep these paths in this order, ancestors first, whatever the landscape says; the first ``budget`` of them.

    Raises ``ValueError`` where a path comes before its parent or twice. Where the landscape lacks a rank the path is skipped.

    >>> from eagle_viz.core.landscape import RankLandscape
    >>> FixedOrder(paths=((0,), (0, 0), (1,)))(RankLandscape([0.5, 0.25]), budget=3).tree.expected_accepted
    1.0
    """

    name = "fixed_order"
    reason = "next in the given order"
    remedy = "its list holds no more nodes that this landscape has"
    title: str = "Own shape"
    paths: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        seen: set[Path] = {()}
        for path in self.paths:
            if path in seen:
                raise ValueError(f"paths: {path_name(path)} given twice, allowed is each node once")
            if path[:-1] not in seen:
                raise ValueError(f"paths: {path_name(path)} given without its parent {path_name(path[:-1])} before it")
            seen.add(path)

    def preference(self, landscape: Landscape, missing: Set[Path]) -> Iterator[Path]:
        return iter(self.paths)


def parents_first(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The paths in their own order if parents come first in it, level by level otherwise."""
    seen: set[Path] = {()}
    ordered = all(path[:-1] in seen and not seen.add(path) for path in paths)
    return tuple(paths if ordered else sorted(paths, key=canonical_order))


def read_choices(text: str) -> FixedOrder:
    """A node list as EAGLE's and Medusa's ``choices`` are written: lists or tuples of child ranks, the root left out.

    JSON and Python alike, also as the one assignment of a file. Raises ``ValueError`` in one sentence for anything else.

    >>> read_choices("mc = [[0], [1], [0, 0]]").paths
    ((0,), (1,), (0, 0))
    """
    paths = [_path(entry) for entry in _entries(text)]
    if not 1 <= len(paths) <= MAX_BUDGET:
        raise ValueError(f"choices: {len(paths)} nodes given, allowed are 1 to {MAX_BUDGET}")
    return FixedOrder(paths=parents_first(paths))


def _entries(text: str) -> Sequence:
    wrong = f"choices: {' '.join(text[:60].split())!r} given, allowed is one list of nodes as in {EXAMPLE}"
    if len(text) > _MOST_TEXT:
        raise ValueError(f"choices: {len(text)} characters given, allowed are at most {_MOST_TEXT}")
    try:
        body = ast.parse(text.strip()).body
        (statement,) = [one for one in body if isinstance(one, (ast.Assign, ast.Expr))]
        found = ast.literal_eval(statement.value)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(wrong) from None
    if not isinstance(found, (list, tuple)):
        raise ValueError(wrong)
    return found


def _path(entry: object) -> Path:
    ranks = entry if isinstance(entry, (list, tuple)) else ()
    whole = all(isinstance(rank, int) and not isinstance(rank, bool) and 0 <= rank <= MAX_RANK for rank in ranks)
    if not whole or not 1 <= len(ranks) <= MAX_DEPTH:
        given = repr(entry)[:40]
        raise ValueError(f"choices: {given} given, allowed are 1 to {MAX_DEPTH} child ranks from 0 to {MAX_RANK}, as in [0, 0]")
    return tuple(ranks)
