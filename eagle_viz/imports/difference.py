"""Two runs compared: the difference by position with its interval, and whether it is more than noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .acceptance import Acceptance, Position

Z = 1.96


@dataclass(frozen=True)
class Gap:
    """The second run's value minus the first's, with its 95 % interval; ``position`` 0 stands for tau."""

    position: int
    difference: float
    low: float
    high: float

    @property
    def real(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0

    @property
    def text(self) -> str:
        """For people, "+0.050 (95 % interval +0.010 to +0.090)"."""
        return f"{self.difference:+.3f} (95 % interval {self.low:+.3f} to {self.high:+.3f})"


@dataclass(frozen=True)
class Difference:
    """``tau`` None where a histogram is missing; ``positions`` those that both files know."""

    tau: Gap | None
    positions: tuple[Gap, ...]
    sentence: str


def difference(first: Acceptance, second: Acceptance) -> Difference:
    """The second run against the first: Newcombe's interval by position, the normal one for tau.

    Passes count as independent. Passes of one answer are alike, so that true intervals are somewhat wider.
    """
    pairs = [pair for pair in zip(first.positions, second.positions, strict=False) if all(one.low is not None for one in pair)]
    positions = tuple(newcombe(one, other) for one, other in pairs)
    tau = _tau(first, second)
    return Difference(tau, positions, _sentence(first, second, tau, positions))


def newcombe(first: Position, second: Position) -> Gap:
    """The difference of two shares with the interval of R. Newcombe (1998), method 10: both Wilson intervals put together.

    >>> from ..core.reliability import wilson
    >>> one, other = Position(1, 48 / 80, *wilson(48, 80), 80), Position(1, 56 / 70, *wilson(56, 70), 70)
    >>> gap = newcombe(one, other)
    >>> round(gap.difference, 4), round(gap.low, 4), round(gap.high, 4)
    (0.2, 0.0524, 0.3339)
    """
    gap = second.rate - first.rate
    below = math.hypot(second.rate - second.low, first.high - first.rate)
    above = math.hypot(second.high - second.rate, first.rate - first.low)
    return Gap(first.position, gap, gap - below, gap + above)


def _tau(first: Acceptance, second: Acceptance) -> Gap | None:
    if first.histogram is None or second.histogram is None or min(*first.histogram, *second.histogram) < 0:
        return None
    (mean, error), (other, other_error) = _moments(first.histogram), _moments(second.histogram)
    half = Z * math.sqrt(error + other_error)
    return Gap(0, other - mean, other - mean - half, other - mean + half)


def _moments(histogram: tuple[int, ...]) -> tuple[float, float]:
    """Mean accepted tokens a pass and the squared standard error of that mean."""
    count = sum(histogram)
    mean = sum(index * passes for index, passes in enumerate(histogram)) / count
    spread = sum((index - mean) ** 2 * passes for index, passes in enumerate(histogram))
    return mean, spread / max(count - 1, 1) / count


def _sentence(first: Acceptance, second: Acceptance, tau: Gap | None, positions: tuple[Gap, ...]) -> str:
    if tau is None and not positions:
        if first.tau is None or second.tau is None:
            return "The two files have no number in common, so they cannot be compared."
        gap = second.tau - first.tau
        return f"tau differs by {gap:+.3f}; without counts of passes nobody can say whether that is more than noise."
    if tau is None:
        real = [str(gap.position) for gap in positions if gap.real]
        words = f"more than noise at position {', '.join(real)}" if real else "no more than noise at any position"
        return f"The second file's rates by position differ from the first's by {words} (95 % intervals)."
    words = "more than noise" if tau.real else "no more than noise: the interval holds 0"
    return f"The second file's tau differs from the first's by {tau.text}, {words}."
