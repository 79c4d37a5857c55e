"""Contexts that differ: what a dynamic tree wins over the best fixed shape depends on how much they differ, on nothing else."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .policies.base import MAX_DEPTH, check_share, check_whole
from .tree import Path

CONTEXTS = 41
SHARPEST = 10.0


@dataclass(frozen=True)
class Mixed:
    """One mixture of contexts at one budget: expected accepted tokens, means over contexts, bonus not counted.

    ``static`` of the one shape that is best for all contexts together, ``dynamic`` of each context's own best tree.
    """

    spread: float
    static: float
    dynamic: float

    @property
    def gain(self) -> float:
        """More tokens a pass, the bonus counted: (1 + dynamic) / (1 + static) - 1."""
        return (1 + self.dynamic) / (1 + self.static) - 1


def mixed(mean: float, spread: float, budget: int, branching: int = 4) -> Mixed:
    """A text of 41 contexts whose sharpness is normal with this mean and spread, cut at 0 and 10.

    Within one context every node has the same children: rank r of ``branching`` has logit z_r, the normal quantile at its place,
    and confidence softmax(sharpness * z)_r. Nothing but the sharpness tells contexts apart. The value of a fixed node is its mean
    path product over the contexts, which never rises towards a child, so that keeping the largest gives the best fixed shape.
    Raises ``ValueError`` naming the field.
    Laws: without spread the gain is 0; it is never below 0.
    """
    check_share("mean", mean, most=SHARPEST)
    check_share("spread", spread, most=SHARPEST)
    check_whole("budget", budget, 1, 512)
    check_whole("branching", branching, 2, 64)
    tables = rank_tables(mean, spread, branching)
    static = _largest(tables, budget)
    dynamic = [_largest(row[None], budget) for row in np.unique(tables, axis=0)]
    counts = np.unique(tables, axis=0, return_counts=True)[1]
    return Mixed(spread, static, float(np.average(dynamic, weights=counts)))


def rank_tables(mean: float, spread: float, branching: int) -> np.ndarray:
    """[contexts, branching] float64: confidences by rank of each context, most confident first, rows summing to 1."""
    quantile = NormalDist().inv_cdf
    sharpness = [mean + spread * quantile((place + 0.5) / CONTEXTS) for place in range(CONTEXTS)]
    z = np.array([quantile(1 - (rank + 0.5) / branching) for rank in range(branching)])
    logits = np.clip(sharpness, 0, SHARPEST)[:, None] * z
    weights = np.exp(logits - logits[:, :1])
    return weights / weights.sum(axis=1, keepdims=True)


def _largest(tables: np.ndarray, budget: int) -> float:
    """Sum of the ``budget`` largest mean path products, found best-first."""
    heap: list[tuple[float, Path]] = []
    products: dict[Path, np.ndarray] = {(): np.ones(len(tables))}
    total, parent = 0.0, ()
    for _ in range(budget):
        if len(parent) < MAX_DEPTH:
            for rank in range(tables.shape[1]):
                products[*parent, rank] = products[parent] * tables[:, rank]
                heapq.heappush(heap, (-float(products[*parent, rank].mean()), (*parent, rank)))
        value, parent = heapq.heappop(heap)
        total -= value
    return total


def curve(mean: float, spreads: Sequence[float], budget: int, branching: int = 4) -> list[Mixed]:
    """``mixed`` at each of these spreads: gain against spread."""
    return [mixed(mean, spread, budget, branching) for spread in spreads]
