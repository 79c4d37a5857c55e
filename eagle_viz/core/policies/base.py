"""What every policy returns, and what goes wrong when a landscape has fewer nodes than the budget asks for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from ..landscape import Candidates, Landscape
from ..tree import ROOT, DraftTree, Node, Path, rank_order

MAX_BUDGET = 4096
MAX_DEPTH = 256
"""Levels no policy passes, so that a landscape without end (confidence 1 for ever) still ends."""


class PoolTooSmallError(ValueError):
    """A policy scored fewer candidates than the budget asks it to keep; ``available`` is how many it has."""

    def __init__(self, policy: str, budget: int, available: int, remedy: str) -> None:
        self.available = available
        self.remedy = remedy
        super().__init__(f"budget: {budget} nodes asked of {policy}, but it scores only {available} candidates here; {remedy}")


class StoppedError(PoolTooSmallError):
    """A policy ended its tree by its own rule before the budget was spent; ``draft`` is what it has drafted."""

    def __init__(self, budget: int, draft: Draft, remedy: str) -> None:
        self.draft = draft
        super().__init__(draft.policy.name, budget, draft.budget, remedy)


class Book(Protocol):
    """What was scored in a drafting, pass by pass; ``Scout`` keeps it by path, ``Layers`` in columns."""

    passes: int

    def pool(self) -> DraftTree:
        """Every candidate that was scored, as a tree."""

    def path_of(self, kept: Sequence) -> tuple[Path, ...]:
        """Paths of what was kept."""

    def frontiers(self) -> tuple[tuple[Path, ...], ...]:
        """The paths expanded in each pass."""


@dataclass(frozen=True, eq=False)
class Draft:
    """What ``policy`` did with ``budget`` nodes: ``tree`` the kept ones, ``kept`` the same in reveal order as ``book`` names them.

    Paths and the pool are made when first asked for. Law: every prefix of ``order`` is a tree.
    """

    policy: Policy
    budget: int
    book: Book
    kept: Sequence
    tree: DraftTree

    @cached_property
    def order(self) -> tuple[Path, ...]:
        """The kept paths in reveal order, ancestors first."""
        return self.book.path_of(self.kept)

    @cached_property
    def frontiers(self) -> tuple[tuple[Path, ...], ...]:
        """The paths expanded in each draft pass."""
        return self.book.frontiers()

    @cached_property
    def pool(self) -> DraftTree:
        """Every candidate that was scored (a fixed shape prices only what it keeps), as a tree."""
        return self.book.pool()

    @property
    def passes(self) -> int:
        """Draft passes that this policy needs by itself: one a frontier (a landscape's memo does not make them fewer)."""
        return self.book.passes


@dataclass(frozen=True)
class Parameter:
    """One parameter of a policy, as the command line and the page offer it; ``kind`` is ``int``, ``float`` or ``bool``.

    ``name`` the field of the policy's dataclass (and, with dashes, the option), ``help`` the option's text, ``label`` the page's.
    ``start`` its value on page and command line until somebody sets it, on the page from ``low`` to ``high`` by ``step``; None
    keeps it off the page, and the class's own default holds. Policies that share a parameter share this object, so that one
    option and one slider serve them all.
    """

    name: str
    kind: type
    help: str
    label: str = ""
    start: float | None = None
    low: float = 0
    high: float = 1
    step: float = 1


DEFAULT_LEVELS = 6
"""Levels below the root where nobody names another number, in the library, on the command line and on the page: the paper's."""
TOP_K = Parameter("top_k", int, "nodes expanded per level, children scored per node", "top_k: nodes expanded per level", 10, 1, 32)
LEVELS = Parameter("max_depth", int, "levels below the root", "max_depth: levels below the root", DEFAULT_LEVELS, 1, 24)


class Policy(ABC):
    """Frozen parameters and one verb: spend ``budget`` nodes (root not counted) on a landscape.

    All that the page and the command line know of a policy stands in its class:
    ``name`` and ``title`` for links and for people; ``parameters`` what can be set;
    ``reason`` why it keeps a node, for a sentence (``{left}`` stands for the candidates that were still to choose from);
    ``nested`` whether its choice at budget N holds its choice at every smaller budget, so that one run serves them all;
    ``expands_first`` whether it scores the same whole pool at every budget before it keeps anything (the page shows its layers);
    ``stops`` whether a rule of its own may end the tree before the budget is spent;
    ``fixed`` whether it keeps the same paths in every context; ``single_path`` whether it keeps one node a level;
    ``needs_average`` whether it asks the landscape for a table of averages.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    reason: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    nested: ClassVar[bool] = True
    expands_first: ClassVar[bool] = False
    stops: ClassVar[bool] = False
    fixed: ClassVar[bool] = False
    single_path: ClassVar[bool] = False
    needs_average: ClassVar[bool] = False

    @classmethod
    def offered(cls) -> Policy:
        """This policy as page and command line offer it until somebody sets a parameter (``Parameter.start``).

        Law: equal to the class's own defaults but for ``best_first``, which the library leaves without a cap of levels.
        """
        return cls(**{entry.name: entry.start for entry in cls.parameters if entry.start is not None})

    @abstractmethod
    def __call__(self, landscape: Landscape, budget: int) -> Draft:
        """Draft exactly ``budget`` nodes; raises ``PoolTooSmallError`` where there are fewer, ``ValueError`` for a bad budget."""

    def passes_at(self, draft: Draft) -> np.ndarray:
        """[draft.budget + 1] int: draft passes of a nested policy at budgets 0, 1, ...; entry 0 is 0, nothing has to be drafted.

        By default all of them where it expands first; otherwise a pass counts from the step after its last parent was kept.
        Law: entry N (from 1) is the ``passes`` of the same policy's own draft with budget N.
        """
        needed = np.full(draft.budget + 1, draft.passes)
        if not self.expands_first:
            step = {ROOT: 0} | {path: number for number, path in enumerate(draft.order, start=1)}
            ready = [max((step[path] for path in frontier), default=0) for frontier in draft.frontiers]
            needed = np.searchsorted(np.sort(ready), np.arange(draft.budget + 1))
        needed[0] = 0
        return needed

    def remark(self, draft: Draft) -> str:
        """What a reader must know of this policy's ``draft`` beside its numbers, in a sentence; empty where there is nothing."""
        return ""

    def engine_setting(self, budget: int) -> tuple[int, int, int] | None:
        """(budget, top_k, max_depth) that serving engines build this tree from (see ``engine_flags``), or None where none does."""
        return None

    def stopping_early(self) -> Policy | None:
        """The same trees with fewer draft passes, or None where this policy has no such way to draft."""
        return None


class Scout:
    """The bookkeeping of one drafting: expands frontiers, remembers each one and every candidate it scored."""

    def __init__(self, landscape: Landscape, top_k: int | None = None) -> None:
        self.landscape = landscape
        self.top_k = top_k
        self.expanded: list[tuple[Path, ...]] = []
        self.nodes: dict[Path, Node] = {}
        self.values: dict[Path, float] = {(): 1.0}

    def expand(self, frontier: Iterable[Path]) -> list[Path]:
        """One draft pass: score the (top k) candidates of each frontier path; the paths scored, frontier by frontier."""
        frontier = tuple(frontier)
        self.expanded.append(frontier)
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

    def draft(self, policy: Policy, order: Iterable[Path]) -> Draft:
        """Close the books: the tree of the kept paths in this reveal order."""
        order = tuple(order)
        tree = DraftTree.from_nodes((self.nodes[path] for path in order), self.landscape.root_token)
        return Draft(policy, len(order), self, order, tree)

    @property
    def passes(self) -> int:
        """Draft passes made: one a frontier."""
        return len(self.expanded)

    def pool(self) -> DraftTree:
        """Every candidate that was scored, as a tree."""
        return DraftTree.from_nodes(self.nodes.values(), self.landscape.root_token)

    def path_of(self, kept: Sequence[Path]) -> tuple[Path, ...]:
        """What was kept is named by path already."""
        return tuple(kept)

    def frontiers(self) -> tuple[tuple[Path, ...], ...]:
        """The paths expanded in each pass."""
        return tuple(self.expanded)


def check_budget(budget: int) -> int:
    """A budget is a whole number of drafted nodes, 0 to 4096, the root not counted; raises ``ValueError`` otherwise."""
    return check_whole("budget", budget, 0, MAX_BUDGET)


def check_whole(name: str, value: int, low: int, high: int) -> int:
    """Return ``value`` as an int, or raise ``ValueError`` naming the field, the value and what is allowed."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ValueError(f"{name}: {value!r} given, allowed is a whole number from {low} to {high}")
    return int(value)


def check_share(name: str, value: float, most: float = 1.0) -> float:
    """Return ``value``, a number from 0 to ``most``, or raise ``ValueError`` naming the field, the value and what is allowed."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)) or not 0 <= value <= most:
        raise ValueError(f"{name}: {value!r} given, allowed is a number from 0 to {most:g}")
    return float(value)
