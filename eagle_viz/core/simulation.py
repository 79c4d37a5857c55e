"""What every setting would have accepted on recorded contexts: one drafting a context prices all budgets and depths at once.

Greedy acceptance needs no target once the text is known: what is accepted of any tree is its longest path along the text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .landscape import Landscape, NotRecordedError
from .policies import BestFirst, BestStatic, Chain, Eagle1, Eagle2, Policy
from .policies.layers import Layers
from .readout import draft_up_to
from .recording import MAX_BUDGET, MAX_DEPTH, TOP_K, RecordedCycle
from .replay import cut, written_curve
from .tree import DraftTree

Z95 = 1.96
"""Standard errors on either side of a mean that hold it in 95 % of samples (normal approximation)."""


@dataclass(frozen=True)
class Setting:
    """A policy with its parameters and a budget of drafted nodes (root not counted); None: the policy has no such parameter."""

    policy: str
    budget: int
    max_depth: int | None = None
    top_k: int | None = None
    early_stop: bool | None = None


@dataclass(frozen=True)
class Outcome:
    """One setting over all contexts.

    ``tau`` mean tokens that a verify pass writes, the bonus counted, cut where the answer ends (the project's one definition), with
    its 95 % interval ``low`` to ``high`` (normal approximation over contexts: 1.96 standard errors, nothing drawn at random);
    ``passes`` mean draft passes, ``nodes`` mean drafted nodes, root not counted; ``by_kind`` tau on the contexts of each kind of
    text.
    """

    setting: Setting
    tau: float
    low: float
    high: float
    passes: float
    nodes: float
    by_kind: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Curve:
    """One context under one policy at budgets 0 .. m: tokens ``written`` and draft ``passes`` of one cycle, [m + 1] int each.

    ``written`` counts the bonus token and is cut where the answer ends, so entry 0 is 1.
    """

    written: np.ndarray
    passes: np.ndarray


def simulate(
    contexts: Sequence[tuple[str, RecordedCycle]], report: Callable[[int, int], None] | None = None
) -> tuple[Outcome, ...]:
    """Every setting on the same contexts: EAGLE-2 (top_k 1 to 10, 1 to 12 levels, with and without early stop), best-first by
    depth, chain, EAGLE-1, and the best static shape where recordings carry an average; budgets 1 to 128.

    ``contexts`` kind of text and recorded cycle of each; ``report(done, all)`` is told after each. A setting counts only where
    every context offers its nodes. Raises ``ValueError`` without a context, ``NotRecordedError`` where a recording holds
    fewer than 12 levels of EAGLE-2. Law: tau is the mean of ``replay(...).written`` over the policy's own trees.
    """
    if not contexts:
        raise ValueError("contexts: none given, at least one recorded context is needed")
    found: dict[Setting, list[Curve | None]] = {}
    for done, (_, cycle) in enumerate(contexts, start=1):
        for setting, curve in curves(cycle).items():
            found.setdefault(setting, []).append(curve)
        if report is not None:
            report(done, len(contexts))
    kinds = np.array([kind for kind, _ in contexts])
    rows: list[Outcome] = []
    for setting, column in found.items():
        known = [curve for curve in column if curve is not None]
        if len(known) == len(contexts):
            rows += _outcomes(setting, known, kinds)
    return tuple(rows)


def curves(cycle: RecordedCycle) -> dict[Setting, Curve | None]:
    """Each policy and its parameters (budget: the largest asked for) with its curve; None where the recording does not hold it."""
    found: dict[Setting, Curve | None] = {}
    for top_k in range(1, TOP_K + 1):
        found.update(eagle2_curves(cycle, top_k))
    found[Setting("chain", MAX_DEPTH)] = nested_curve(cycle, Chain(), MAX_DEPTH)
    for policy in (Eagle1(), *([BestStatic()] if cycle.landscape.family_average() is not None else [])):
        found[Setting(policy.name, MAX_BUDGET)] = nested_curve(cycle, policy, MAX_BUDGET)
    for depth in range(1, MAX_DEPTH + 1):
        found[Setting("best_first", MAX_BUDGET, depth)] = nested_curve(cycle, BestFirst(depth), MAX_BUDGET)
    return found


def nested_curve(cycle: RecordedCycle, policy: Policy, budget: int) -> Curve | None:
    """Curve of a nested policy from its one draft with ``budget`` nodes (or all it has); None where that was not recorded."""
    try:
        draft, _ = draft_up_to(policy, cycle.landscape, budget)
    except NotRecordedError:
        return None
    return Curve(written_curve(cycle, draft), policy.passes_at(draft))


def eagle2_curves(cycle: RecordedCycle, top_k: int) -> dict[Setting, Curve]:
    """EAGLE-2 at every depth from one drafting to the deepest: its first L layers are the drafting with max_depth L.

    Law: equals drafting each depth, early stop and budget by itself.
    """
    values, pool, ends = _expanded(cycle.landscape, top_k)
    places = _places(values, pool, cycle.continuation, ends)
    enough = _enough(values, ends)
    found = {}
    for depth in range(1, MAX_DEPTH + 1):
        reached = min(depth, len(ends) - 1)
        sizes = np.arange(min(MAX_BUDGET, ends[reached]) + 1)
        written = cut(cycle, np.searchsorted(places[reached], sizes, side="right"))
        stops = [reached if size > max(enough[:reached], default=0) else _first(enough, size) for size in sizes.tolist()]
        for early, passes in ((False, np.full(len(sizes), reached)), (True, np.array(stops))):
            passes[0] = 0
            found[Setting("eagle2", MAX_BUDGET, depth, top_k, early)] = Curve(written, passes)
    return found


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


def _first(enough: Sequence[int], size: int) -> int:
    return next(passes for passes, budget in enumerate(enough, start=1) if budget >= size)


def _outcomes(setting: Setting, known: Sequence[Curve], kinds: np.ndarray) -> list[Outcome]:
    last = min(len(curve.written) for curve in known)
    written = np.array([curve.written[:last] for curve in known], dtype=np.float64)
    passes = np.mean([curve.passes[:last] for curve in known], axis=0)
    mean = written.mean(axis=0)
    spread = written.std(axis=0, ddof=1) if len(known) > 1 else np.full(last, math.nan)
    half = Z95 * spread / math.sqrt(len(known))
    of = {kind: written[kinds == kind].mean(axis=0) for kind in dict.fromkeys(kinds.tolist())}
    return [
        Outcome(
            Setting(setting.policy, budget, setting.max_depth, setting.top_k, setting.early_stop),
            *(float(column[budget]) for column in (mean, mean - half, mean + half, passes)),
            nodes=float(budget),
            by_kind={kind: float(column[budget]) for kind, column in of.items()},
        )
        for budget in range(1, last)
    ]
