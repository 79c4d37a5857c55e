"""What every setting would have written on known texts: sums over contexts, and the mean tokens a pass with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .curves import Curve, Setting, curves
from .recording import MAX_BUDGET, RecordedCycle

Z95 = 1.96
"""Standard errors on either side of a mean that hold it in 95 % of samples (normal approximation)."""


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
class Tally:
    """Sums over ``count`` contexts at every setting and budget 0 .. 128, [settings, 129] int64 each.

    ``settings`` name their largest budget; ``last`` [settings] is the largest budget that every context offers, -1 where a
    context lacks the setting; entries behind it mean nothing. ``squares`` are those of ``written``.
    Law: adding the tallies of two halves gives the tally of the whole.
    """

    settings: tuple[Setting, ...]
    count: int
    last: np.ndarray
    written: np.ndarray
    squares: np.ndarray
    passes: np.ndarray
    nodes: np.ndarray

    @classmethod
    def of(cls, found: Mapping[Setting, Curve | None]) -> Tally:
        """The tally of one context."""
        sums = {name: np.zeros((len(found), MAX_BUDGET + 1), dtype=np.int64) for name in ("written", "passes", "nodes")}
        last = np.full(len(found), -1)
        for row, curve in enumerate(found.values()):
            if curve is not None:
                last[row] = len(curve.written) - 1
                for name, table in sums.items():
                    table[row, : last[row] + 1] = getattr(curve, name)
        return cls(tuple(found), 1, last, squares=sums["written"] ** 2, **sums)

    def __add__(self, other: Tally) -> Tally:
        if self.settings != other.settings:
            raise ValueError("settings: two tallies of different settings given, allowed are tallies of the same ones")
        names = ("written", "squares", "passes", "nodes")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return replace(self, count=self.count + other.count, last=np.minimum(self.last, other.last), **sums)

    def mean(self, name: str) -> np.ndarray:
        """[settings, 129] float64: mean of ``written`` (tau), ``passes`` or ``nodes``, NaN where a context lacks the budget."""
        known = np.arange(MAX_BUDGET + 1) <= self.last[:, None]
        return np.where(known, getattr(self, name) / self.count, np.nan)

    def half_width(self) -> np.ndarray:
        """[settings, 129] float64: half of the 95 % interval of tau; NaN for one context."""
        if self.count < 2:
            return np.full(self.written.shape, math.nan)
        spread = (self.squares - self.written**2 / self.count) / (self.count - 1)
        return Z95 * np.sqrt(np.maximum(spread, 0) / self.count)


def tally(
    contexts: Iterable[tuple[str, RecordedCycle]], report: Callable[[int], None] | None = None, exact: bool = True
) -> dict[str, Tally]:
    """The tally of each kind of text; ``report(done)`` is told after each context. Raises ``ValueError`` without one.

    ``contexts`` kind of text and cycle of each; ``exact`` as in ``curves``. Raises ``NotRecordedError`` for a recording of fewer
    than 12 levels of EAGLE-2.
    """
    found: dict[str, Tally] = {}
    for done, (kind, cycle) in enumerate(contexts, start=1):
        one = Tally.of(curves(cycle, exact))
        found[kind] = found[kind] + one if kind in found else one
        if report is not None:
            report(done)
    if not found:
        raise ValueError("contexts: none given, at least one recorded context is needed")
    return found


def whole(kinds: Mapping[str, Tally]) -> Tally:
    """All kinds of text together."""
    first, *others = kinds.values()
    return sum(others, start=first)


def simulate(
    contexts: Sequence[tuple[str, RecordedCycle]], report: Callable[[int, int], None] | None = None
) -> tuple[Outcome, ...]:
    """Every setting on the same contexts: EAGLE-2 (top_k 1 to 10, 1 to 12 levels, with and without early stop), best-first by
    depth, chain, EAGLE-1, and the best static shape where recordings carry an average; budgets 1 to 128.

    ``contexts`` kind of text and recorded cycle of each; ``report(done, all)`` is told after each. A setting counts only where
    every context offers its nodes. Raises what ``tally`` raises. Law: tau is the mean of ``replay(...).written`` over the
    policy's own trees.
    """
    return outcomes(tally(contexts, None if report is None else lambda done: report(done, len(contexts))))


def outcomes(kinds: Mapping[str, Tally]) -> tuple[Outcome, ...]:
    """One row for each setting and budget, in the settings' order, budgets rising."""
    every = whole(kinds)
    tau, half, passes, nodes = every.mean("written"), every.half_width(), every.mean("passes"), every.mean("nodes")
    of = {kind: one.mean("written") for kind, one in kinds.items()}
    return tuple(
        Outcome(
            replace(setting, budget=budget),
            float(tau[row, budget]),
            *(float(tau[row, budget] + sign * half[row, budget]) for sign in (-1, 1)),
            float(passes[row, budget]),
            float(nodes[row, budget]),
            {kind: float(column[row, budget]) for kind, column in of.items()},
        )
        for row, setting in enumerate(every.settings)
        for budget in range(1, int(every.last[row]) + 1)
    )
