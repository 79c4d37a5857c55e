"""One context under every policy and parameter: what each budget writes, from one drafting that serves all budgets and depths.

Greedy acceptance needs no target once the text is known: what is accepted of any tree is its longest path along the text.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .landscape import Landscape, NotRecordedError
from .policies import BestFirst, BestStatic, Chain, ConfidentChain, Ddd, Eagle1, Eagle2, NoAverageError, Policy
from .policies.layers import Layers, greatest
from .readout import draft_up_to
from .recording import MAX_BUDGET, MAX_DEPTH, TOP_K, RecordedCycle
from .replay import cut, written_curve
from .tree import ROOT, DraftTree, Path, rank_order

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
"""Of policies that end their tree by a rule of their own, as far as they are simulated."""


@dataclass(frozen=True)
class Setting:
    """A policy with its parameters and a budget of drafted nodes (root not counted); None: the policy has no such parameter.

    ``threshold`` is what ends a tree by the policy's own rule: ``stop_below`` of a chain, ``least_mass`` of DDD.
    """

    policy: str
    budget: int
    max_depth: int | None = None
    top_k: int | None = None
    early_stop: bool | None = None
    threshold: float | None = None

    @property
    def told(self) -> str:
        """The numbers in words: ``"budget 25, max_depth 6, top_k 10, stopping early"``."""
        sizes = [f"{name} {value}" for name in ("budget", "max_depth", "top_k") if (value := getattr(self, name)) is not None]
        stop = [] if self.threshold is None else [f"threshold {self.threshold:g}"]
        return ", ".join([*sizes, *(["stopping early"] if self.early_stop else []), *stop])


@dataclass(frozen=True, eq=False)
class Curve:
    """One context under one policy at budgets 0 .. m, [m + 1] int each: tokens ``written``, draft ``passes`` and drafted ``nodes``.

    ``written`` counts the bonus token and is cut where the answer ends, so entry 0 is 1. ``nodes`` (root not counted) is the budget
    itself, or less for a policy that ends its tree before.
    """

    written: np.ndarray
    passes: np.ndarray
    nodes: np.ndarray


def curves(cycle: RecordedCycle, exact: bool = True) -> dict[Setting, Curve | None]:
    """Each policy and its parameters (budget: the largest asked for) with its curve; None where the recording does not hold it.

    ``exact``: best-first too, which expands node by node and is slow where a drafter answers.
    """
    found: dict[Setting, Curve | None] = {}
    for top_k in range(1, TOP_K + 1):
        found.update(eagle2_curves(cycle, top_k))
    found[Setting("chain", MAX_DEPTH)] = nested_curve(cycle, Chain(), MAX_DEPTH)
    for threshold in THRESHOLDS:
        setting = Setting(ConfidentChain.name, MAX_DEPTH, threshold=threshold)
        found[setting] = nested_curve(cycle, ConfidentChain(threshold), MAX_DEPTH)
    found[Setting(Eagle1.name, MAX_BUDGET)] = nested_curve(cycle, Eagle1(), MAX_BUDGET)
    found[Setting(BestStatic.name, MAX_BUDGET)] = nested_curve(cycle, BestStatic(), MAX_BUDGET)
    return found | best_first_curves(cycle) if exact else found


def nested_curve(cycle: RecordedCycle, policy: Policy, budget: int) -> Curve | None:
    """Curve of a nested policy from its one draft with ``budget`` nodes, or all it has.

    None where that was not recorded, or the average that it needs is not known.
    """
    try:
        draft, _ = draft_up_to(policy, cycle.landscape, budget)
    except (NotRecordedError, NoAverageError):
        return None
    passes = policy.passes_at(draft)
    whole = Curve(written_curve(cycle, draft), passes, np.arange(draft.budget + 1))
    return _padded(whole, budget, draft.passes) if policy.stops else whole


def _padded(curve: Curve, budget: int, passes: int) -> Curve:
    """The curve of a tree that its own rule ended: larger budgets change nothing, but ``passes`` were made to find that out."""
    more = (0, budget + 1 - len(curve.written))
    made = np.pad(curve.passes, more, constant_values=passes)
    return Curve(np.pad(curve.written, more, mode="edge"), made, np.pad(curve.nodes, more, mode="edge"))


def best_first_curves(cycle: RecordedCycle) -> dict[Setting, Curve | None]:
    """Best-first under every depth cap; what one cap has scored, the next one need not score again.

    Law: equals ``nested_curve`` of ``BestFirst`` with each cap.
    """
    scored = _Scored(cycle.landscape)
    found: dict[Setting, Curve | None] = {}
    for depth in range(1, MAX_DEPTH + 1):
        setting = Setting(BestFirst.name, MAX_BUDGET, depth)
        try:
            order = _best_first(scored, depth)
        except NotRecordedError:
            found[setting] = None
            continue
        sizes = np.arange(len(order) + 1)
        step = {path: number for number, path in enumerate(order, start=1)}
        bought = [step[path] for path in scored.way(cycle.continuation) if path in step]
        expanded = np.array([len(path) < depth for path in order], dtype=np.int64)
        passes = np.concatenate(([0, 1], 1 + np.cumsum(expanded)))[: len(sizes)]  # the last kept node is not expanded any more
        found[setting] = Curve(cut(cycle, np.searchsorted(bought, sizes, side="right")), passes, sizes)
    return found


class _Scored:
    """Candidates of a landscape in the strict order, each parent's once."""

    def __init__(self, landscape: Landscape) -> None:
        self._landscape = landscape
        self._below: dict[Path, list[tuple[float, int, Path]]] = {}
        self._tokens: dict[Path, list[int]] = {}

    def below(self, parent: Path, value: float) -> list[tuple[float, int, Path]]:
        """Entries of ``rank_order`` for the candidates of a node of this value."""
        if parent not in self._below:
            found = self._landscape.expand([parent])[0]
            prices = enumerate(found.confidences.tolist())
            self._below[parent] = [rank_order(value * confidence, (*parent, rank)) for rank, confidence in prices]
            self._tokens[parent] = found.tokens.tolist()
        return self._below[parent]

    def way(self, continuation: Sequence[int]) -> list[Path]:
        """Scored paths along a text, root side first."""
        path, found = ROOT, []
        for token in continuation:
            if token not in self._tokens.get(path, ()):
                break
            path = (*path, self._tokens[path].index(token))
            found.append(path)
        return found


def _best_first(scored: _Scored, depth: int) -> list[Path]:
    """The paths that best-first keeps of the largest budget, in its order."""
    order: list[Path] = []
    heap = list(scored.below(ROOT, 1.0))
    heapq.heapify(heap)
    while heap and len(order) < MAX_BUDGET:
        value, levels, path = heapq.heappop(heap)
        order.append(path)
        if levels < depth and len(order) < MAX_BUDGET:
            for entry in scored.below(path, -value):
                heapq.heappush(heap, entry)
    return order


def eagle2_curves(cycle: RecordedCycle, top_k: int) -> dict[Setting, Curve]:
    """EAGLE-2 at every depth from one drafting to the deepest: its first L layers are the drafting with max_depth L.

    And DDD, which is EAGLE-2 of as many levels as its rule makes, up to the deepest.

    Law: equals drafting each depth, early stop, threshold and budget by itself.
    """
    values, pool, ends = _expanded(cycle.landscape, top_k)
    places = _places(values, pool, cycle.continuation, ends)
    enough = _enough(values, ends)
    found = {}
    for depth in range(1, MAX_DEPTH + 1):
        reached = min(depth, len(ends) - 1)
        sizes = np.arange(min(MAX_BUDGET, ends[reached]) + 1)
        written = cut(cycle, np.searchsorted(places[reached], sizes, side="right"))
        stops = np.searchsorted(np.maximum.accumulate(enough[:reached]), sizes) + 1
        for early, passes in ((False, np.full(len(sizes), reached)), (True, np.minimum(stops, reached))):
            passes[0] = 0
            found[Setting("eagle2", MAX_BUDGET, depth, top_k, early)] = Curve(written, passes, sizes)
    for threshold in THRESHOLDS:
        made = _ddd_levels(values, ends, top_k, threshold)
        curve = found[Setting("eagle2", MAX_BUDGET, made, top_k, False)]
        found[Setting(Ddd.name, MAX_BUDGET, MAX_DEPTH, top_k, threshold=threshold)] = _padded(curve, MAX_BUDGET, made)
    return found


def _ddd_levels(values: np.ndarray, ends: Sequence[int], top_k: int, threshold: float) -> int:
    """Levels after which the beam's path products sum to less than the threshold; all that there are where they never do."""
    for made, (start, end) in enumerate(pairwise(ends), start=1):
        beam = values[start:end][greatest(values[start:end], top_k)]
        if math.fsum(beam) < threshold:
            return made
    return len(ends) - 1


def _expanded(landscape: Landscape, top_k: int) -> tuple[np.ndarray, DraftTree, list[int]]:
    """Values of all scored rows (root not counted), the rows as a tree, and how many were scored after 0, 1, ... passes."""
    layers = Layers(landscape, top_k)
    Eagle2(top_k=top_k, max_depth=MAX_DEPTH).expand(layers)
    pool = layers.pool()
    parents = pool.parents[1:]
    ends = [0]
    while ends[-1] < len(parents):
        ends.append(int(np.searchsorted(parents, ends[-1], side="right")))  # a level's parents are rows up to the last end
    return layers.scored(), pool, ends


def _places(values: np.ndarray, pool: DraftTree, continuation: Sequence[int], ends: Sequence[int]) -> list[list[int]]:
    """For each number of passes: the 1-based place, in order of value, of each scored row along the text, root side first."""
    tokens, parents = pool.tokens, pool.parents
    way, row = [], 0
    for token in continuation:
        low, high = np.searchsorted(parents, row, side="left"), np.searchsorted(parents, row, side="right")
        below = low + np.flatnonzero(tokens[low:high] == token)
        if not len(below):
            break
        row = int(below[0])
        way.append(row)
    places: list[list[int]] = [[] for _ in ends]
    for depth, row in enumerate(way, start=1):
        ahead = values > values[row - 1]
        ahead[: row - 1] |= values[: row - 1] == values[row - 1]
        counts = np.concatenate(([0], np.cumsum(ahead)))
        for passes in range(depth, len(ends)):
            places[passes].append(1 + int(counts[ends[passes]]))
    return places


def _enough(values: np.ndarray, ends: Sequence[int]) -> list[int]:
    """For 1, 2, ... passes: the largest budget that no deeper candidate can enter any more."""
    levels = zip(ends, ends[1:], strict=False)
    return [int(np.count_nonzero(values[:end] >= values[start:end].max())) for start, end in levels]
