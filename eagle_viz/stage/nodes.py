"""The nodes of a trace: what both runs scored, what a sentence calls each, and where it is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..core.landscape import Landscape
from ..core.policies import Draft, Policy
from ..core.readout import amount, rank_label
from ..core.tree import ROOT, Path, in_canonical_order, path_name
from ..view.layout import tidy_layout

GHOST_SIZE = 0.35
"""Breadth of a candidate that was scored but not kept, against 1 for a kept node."""

Table = dict[str, object]


@dataclass(frozen=True, eq=False)
class Run:
    """What one policy did at every budget of a tier: ``drafts`` by budget, or one for all (key ``"all"``) where it is nested.

    ``curve``: expected accepted tokens at budgets 0, 1, ..., None where this budget was not traced.
    """

    policy: Policy
    drafts: dict[str, Draft]
    notice: str | None
    curve: list[float | None]

    @property
    def largest(self) -> Draft:
        """The draft with the largest budget."""
        return max(self.drafts.values(), key=lambda draft: draft.budget)

    def kept(self, budget: int) -> set[Path]:
        """Every path it keeps at any traced budget up to this one."""
        if self.policy.nested:
            return set(self.drafts["all"].order[:budget])
        return {path for draft in self.drafts.values() if draft.budget <= budget for path in draft.order}


class Nodes:
    """The union of what both runs scored, numbered level by level: index 0 is the root."""

    def __init__(self, landscape: Landscape, runs: dict[str, Run], tier: int, full: bool) -> None:
        self.landscape = landscape
        self.facts: dict[Path, tuple[int, float, float]] = {}
        kept = set().union(*(run.kept(tier) for run in runs.values()))
        for draft in (draft for run in runs.values() for draft in run.drafts.values()):
            self._collect(draft, None if full else kept)
        self.paths = in_canonical_order(self.facts)
        self.index = {path: i for i, path in enumerate(self.paths)}
        self.often = Counter(self.facts[path][0] for path in kept if path)
        self.real = any(landscape.token_text(token) is not None for token, _, _ in self.facts.values())

    def _collect(self, draft: Draft, only: set[Path] | None) -> None:
        pool = draft.pool
        for path, *facts in zip(pool.paths, pool.tokens.tolist(), pool.confidences.tolist(), pool.values.tolist(), strict=True):
            if only is None or path in only or path == ROOT:
                self.facts[path] = tuple(facts)

    def label(self, path: Path, token: int) -> str:
        """What a sentence calls a node: its quoted token, with its path where another kept node reads the same; its rank path
        where there is no vocabulary.
        """
        text = self.landscape.token_text(token)
        if text is None:
            return rank_label(path)
        return f"{quoted(text)} ({path_name(path)})" if self.often[token] > 1 else quoted(text)

    def table(self, root_text: str | None) -> list[Table]:
        """One row a node; ``shown`` and ``odds`` are its value and confidence as the page writes them."""
        rows = []
        for path in self.paths:
            token, confidence, value = self.facts[path]
            text = self.landscape.token_text(token) if path or root_text is None else root_text
            row = {"path": path_name(path), "parent": self.index[path[:-1]] if path else -1, "depth": len(path)}
            row |= {"confidence": confidence, "value": value, "odds": amount(confidence), "shown": amount(value)}
            rows.append(row | ({} if text is None else {"token": token, "text": visible(text)}))
        return rows

    def rows(self, paths: Iterable[Path]) -> list[int]:
        """Indices of these paths."""
        return [self.index[path] for path in paths]

    def layout(self, runs: dict[str, Run], tier: int, full: bool) -> Table:
        """Breadths of the nodes that either side keeps within a tier, and of all candidates in a full trace."""
        kept = set().union(*(run.kept(tier) for run in runs.values()))
        table = self._breadths(tidy_layout(kept))
        if full:
            sizes = {path: 1.0 if path in kept else GHOST_SIZE for path in self.paths}
            pool = kept | set(runs["dynamic"].largest.pool.paths)
            table["pool"] = self._breadths(tidy_layout(pool, sizes))
        return table

    def _breadths(self, y: dict[Path, float]) -> Table:
        return {"nodes": self.rows(y), "y": list(y.values()), "breadth": max(y.values()), "depth": max(map(len, y))}


def quoted(text: str, longest: int = 24) -> str:
    """A token as a sentence names it, its white space visible, a very long one cut.

    >>> quoted(" the")
    '“␣the”'
    """
    marks = visible(text)
    return f"“{marks if len(marks) <= longest else marks[: longest - 1] + '…'}”"


def visible(text: str) -> str:
    """A token with its white space drawn as marks, and control characters as their escapes.

    >>> visible(" a\\n")
    '␣a⏎'
    """
    marks = {" ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍"}
    return "".join(marks.get(sign) or (sign if sign.isprintable() else f"\\x{ord(sign):02x}") for sign in text)
