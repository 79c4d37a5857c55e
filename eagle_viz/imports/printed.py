"""Log lines that print rounded rates instead of counts: the number of passes that all their figures fit, where there is one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .acceptance import Acceptance
from .document import total

MEAN_HALF, RATE_HALF = 0.005, 0.0005
"""Half of the last printed decimal: means have two, rates by position three."""
MOST_TRIED = 100_000
"""Numbers of passes that are held against a line; a line with more is too coarse to tell one."""


def printed_figures(name: str, words: str) -> tuple[float, ...]:
    """Numbers separated by commas; raises ``ValueError`` naming the field and the value.

    >>> printed_figures("rates", "0.913, 0.783")
    (0.913, 0.783)
    """
    try:
        return tuple(float(word) for word in words.split(",") if word.strip())
    except ValueError:
        raise ValueError(f"{name}: {words!r:.60} given, allowed are numbers separated by commas") from None


@dataclass(frozen=True)
class Printed:
    """One line: ``mean`` tokens a pass, bonus counted, to two decimals; ``accepted`` and ``drafted`` tokens; ``rates`` the share
    of all passes that accepted at least 1, 2 ... drafted tokens, to three decimals (empty: not printed)."""

    mean: float
    accepted: int
    drafted: int
    rates: tuple[float, ...] = ()

    def passes(self) -> int | None:
        """The number of passes, None where the printed figures leave more than one open.

        Every figure is a count over this number, rounded. Where several fit, the one that makes every draft full length is
        taken: ``drafted`` is then passes times positions.

        >>> Printed(3.49, 92, 259, (0.757, 0.622, 0.432, 0.324, 0.189, 0.108, 0.054)).passes()
        37
        """
        fitting = self._fitting
        return fitting[0] if len(fitting) == 1 else self._full_length if self._full_length in fitting else None

    @property
    def chosen(self) -> bool:
        """Whether several numbers of passes fit, and the one of full-length drafts was taken."""
        return len(self._fitting) > 1 and self.passes() is not None

    @cached_property
    def _fitting(self) -> tuple[int, ...]:
        return tuple(count for count in self._within_mean() if self._counts(count) is not None)

    @property
    def _full_length(self) -> int | None:
        positions = len(self.rates)
        return self.drafted // positions if positions and self.drafted % positions == 0 else None

    def reached(self) -> tuple[int, ...] | None:
        """Passes that accepted at least 0, 1, 2 ..., None where they are not certain."""
        passes = self.passes()
        counts = None if passes is None else self._counts(passes)
        return None if counts is None or not self.rates else (passes, *counts)

    def _within_mean(self) -> range:
        low, high = self.mean - 1 - MEAN_HALF, self.mean - 1 + MEAN_HALF
        if self.accepted == 0 or low <= 0:
            return range(max(1, math.ceil(self.drafted / max(len(self.rates), 1))), min(self.drafted, MOST_TRIED) + 1)
        first, last = math.ceil(self.accepted / high - 1e-9), math.floor(self.accepted / low + 1e-9)
        return range(max(1, first), min(last, self.drafted) + 1) if last - first <= MOST_TRIED else range(0)

    def _counts(self, passes: int) -> tuple[int, ...] | None:
        counts = tuple(round(rate * passes) for rate in self.rates)
        near = all(abs(count / passes - rate) <= RATE_HALF + 1e-9 for count, rate in zip(counts, self.rates, strict=True))
        return counts if near and (not self.rates or sum(counts) == self.accepted) else None


def pooled_prints(format: str, meaning: str, prints: Sequence[Printed]) -> Acceptance:
    """One ``Acceptance`` of all lines. Where a line leaves its number of passes open, so is the total's, and the rates by
    position are shares weighted by each line's passes as far as its mean tells them."""
    passes = total([line.passes() for line in prints])
    accepted, drafted = sum(line.accepted for line in prints), sum(line.drafted for line in prints)
    near = [line.passes() or _about(line) for line in prints]
    said = 1 + accepted / sum(near) if all(near) else (prints[0].mean if len(prints) == 1 else None)
    counted = [line.reached() for line in prints]
    exact = all(counted) and len({len(line) for line in counted}) == 1
    remarks = () if passes is not None else ("The rounded figures do not settle the number of passes, so it is not shown.",)
    if any(line.chosen for line in prints):
        remarks += ("Rounded figures fit several numbers of passes; taken is the one at which every draft has its full length.",)
    return Acceptance(
        format,
        meaning,
        passes=passes,
        accepted=accepted,
        drafted=drafted,
        reached=tuple(map(sum, zip(*counted, strict=True))) if exact else _shares(prints, near),
        counted=exact,
        said_tau=said,
        remarks=remarks,
    )


def _about(line: Printed) -> float | None:
    return line.accepted / (line.mean - 1) if line.mean > 1 else None


def _shares(prints: Sequence[Printed], near: Sequence[float | None]) -> tuple[float, ...]:
    if not all(near) or len({len(line.rates) for line in prints}) != 1 or not prints[0].rates:
        return ()
    weighted = zip(*([rate * weight for rate in line.rates] for line, weight in zip(prints, near, strict=True)), strict=True)
    return (1.0, *(sum(rates) / sum(near) for rates in weighted))
