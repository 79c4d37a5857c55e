"""Speed over (max_depth, budget) at the best top_k: where speculation pays, where it is best, and what is nearly as good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .cost import PassCost, speedup
from .curves import Setting
from .policies import Eagle2
from .policies.base import check_whole
from .simulation import Outcome, Tally

NEAR = 0.02
"""Settings that lose at most this share of the best speed are as good as the best: measuring cannot tell them apart."""
MAX_BATCH = 4096


@dataclass(frozen=True, eq=False)
class SpeedMap:
    """EAGLE-2 at every number of levels and every budget, each with the top_k that is fastest there.

    [levels, budgets] arrays, row i is max_depth i + 1, column j is budget j + 1: ``speed`` against plain decoding at the same
    batch, ``tau``, draft ``passes`` (float64, NaN where no top_k offers so many nodes) and ``top_k`` (int64, 0 there).
    """

    speed: np.ndarray
    tau: np.ndarray
    passes: np.ndarray
    top_k: np.ndarray
    early_stop: bool

    @property
    def best(self) -> tuple[int, int]:
        """Row and column of the largest speed; of equal ones the fewest levels, then the smallest budget."""
        return tuple(map(int, np.unravel_index(int(np.nanargmax(self.speed)), self.speed.shape)))

    @property
    def pays(self) -> np.ndarray:
        """[levels, budgets] bool: faster than plain decoding."""
        return self.speed > 1

    @property
    def near_best(self) -> np.ndarray:
        """[levels, budgets] bool: pays, and at most 2 % slower than the best."""
        return self.pays & (self.speed >= (1 - NEAR) * np.nanmax(self.speed))

    def setting(self, row: int, column: int) -> Setting:
        """The setting of one cell."""
        return Setting(Eagle2.name, column + 1, row + 1, int(self.top_k[row, column]), self.early_stop)


def speed_map(tally: Tally, cost: PassCost, batch: int = 1, early_stop: bool = False) -> SpeedMap:
    """Price every EAGLE-2 setting of a simulation at these pass times for ``batch`` requests verified together.

    Raises ``ValueError`` for a bad batch. Law: no simulated EAGLE-2 setting of a cell is faster than it.
    """
    check_whole("batch", batch, 1, MAX_BATCH)
    rows = [row for row, one in enumerate(tally.settings) if one.early_stop is early_stop]
    levels = np.array([tally.settings[row].max_depth for row in rows])
    widths = np.array([tally.settings[row].top_k for row in rows])
    tau, passes, nodes = (tally.mean(name)[rows, 1:] for name in ("written", "passes", "nodes"))
    speed = speedup(cost, tau - 1, nodes, passes, batch)
    known = np.where(np.isnan(speed), -np.inf, speed)
    chosen = np.array([np.flatnonzero(levels == level)[known[levels == level].argmax(axis=0)] for level in np.unique(levels)])
    at = chosen, np.arange(speed.shape[1])
    top_k = np.where(np.isnan(speed[at]), 0, widths[chosen])
    return SpeedMap(speed[at], tau[at], passes[at], top_k, early_stop)


@dataclass(frozen=True)
class Offer:
    """A setting that no other one beats: ``milliseconds`` of one pass over the batch with its draft passes, and ``speed``."""

    outcome: Outcome
    milliseconds: float
    speed: float


def pareto(outcomes: Sequence[Outcome], cost: PassCost, batch: int = 1) -> tuple[Offer, ...]:
    """Settings for which no other one has a larger tau in as little time, cheapest first.

    Law: along the front time and tau both rise, and the fastest setting of all is on it.
    """
    check_whole("batch", batch, 1, MAX_BATCH)
    tau, nodes, passes = (np.array([getattr(one, name) for one in outcomes]) for name in ("tau", "nodes", "passes"))
    time = cost.verify(batch * (nodes + 1)) + passes * cost.draft_ms
    speed = speedup(cost, tau - 1, nodes, passes, batch)
    order = np.lexsort((-tau, time))
    best = np.maximum.accumulate(np.concatenate(([0.0], tau[order])))[:-1]
    return tuple(Offer(outcomes[i], float(time[i]), float(speed[i])) for i in order[tau[order] > best].tolist())
