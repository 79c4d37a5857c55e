"""What every reader returns: how many drafted tokens the passes of a run accepted, by position where the file tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.reliability import wilson
from .chain import EndingLandscape


@dataclass(frozen=True)
class Position:
    """Conditional acceptance at one drafted position, 1 first.

    ``rate``: share accepted here among the ``trials`` passes that accepted everything before. ``low`` and ``high`` are its 95 %
    Wilson interval. None: the file does not tell.
    """

    position: int
    rate: float | None
    low: float | None
    high: float | None
    trials: int | None

    def to_json(self) -> dict:
        """position, rate, low, high."""
        return {"position": self.position, "rate": self.rate, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Acceptance:
    """The passes of one run, pooled. None: the file does not tell.

    ``format`` which reader, ``meaning`` what the file calls acceptance length and what is shown instead, in one sentence.
    ``passes`` verify passes, ``accepted`` drafted tokens accepted (bonus not counted), ``drafted`` drafted tokens in all.
    ``reached[i]`` passes that accepted at least i drafted tokens, so ``reached[0]`` is all of them; shares of all passes
    where ``counted`` is False. ``said_tau`` the file's own tokens a pass, bonus counted. ``steps`` and ``draft_slots`` the
    engine's draft steps and its number of draft tokens, the root counted as SGLang does.
    Raises ``ValueError`` where no pass was counted.

    >>> Acceptance("example", "", passes=4, accepted=5, reached=(4, 3, 2)).tau
    2.25
    """

    format: str
    meaning: str
    passes: int | None = None
    accepted: int | None = None
    drafted: int | None = None
    reached: tuple[float, ...] = ()
    counted: bool = True
    said_tau: float | None = None
    steps: int | None = None
    draft_slots: int | None = None
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.passes == 0 or (self.reached and self.reached[0] == 0):
            raise ValueError(f"passes: 0 counted in this {self.format} file, so nothing was drafted while it was measured")

    @property
    def tau(self) -> float | None:
        """Tokens a pass, bonus counted: 1 + accepted / passes where both are known, else what the file says."""
        if self.passes and self.accepted is not None:
            return 1 + self.accepted / self.passes
        return self.said_tau

    @property
    def positions(self) -> tuple[Position, ...]:
        """Conditional acceptance by drafted position; empty where the file has one rate for all positions.

        >>> [p.rate for p in Acceptance("example", "", reached=(4, 3, 2)).positions]
        [0.75, 0.6666666666666666]
        """
        pairs = zip(self.reached, self.reached[1:], strict=False)
        return tuple(self._position(place, before, after) for place, (before, after) in enumerate(pairs, start=1))

    def _position(self, place: int, before: float, after: float) -> Position:
        trials = int(before) if self.counted else None
        if before == 0:
            return Position(place, None, None, None, trials)
        rate = after / before
        if not self.counted or rate > 1:
            return Position(place, rate, None, None, trials)
        low, high = wilson(int(after), int(before))
        return Position(place, rate, min(low, rate), max(high, rate), trials)

    @property
    def histogram(self) -> tuple[int, ...] | None:
        """Passes that accepted exactly 0, 1, 2 ... drafted tokens; None where they were not counted.

        >>> Acceptance("example", "", reached=(4, 3, 2)).histogram
        (1, 1, 2)
        """
        if not self.reached or not self.counted:
            return None
        return tuple(int(count) for count in -np.diff([*self.reached, 0]))

    @property
    def landscape(self) -> EndingLandscape:
        """A chain: one candidate a level with the conditional rate as its confidence, nothing behind the last measured position.

        Law: the chain of all its positions expects ``accepted / passes`` tokens. Raises ``ValueError`` where rates are unknown.

        >>> Acceptance("example", "", reached=(4, 3, 2)).landscape.confidences
        ((0.75,), (0.6666666666666666,), (0.0,))
        """
        rates = [position.rate for position in self.positions if position.rate is not None]
        if not rates:
            raise ValueError(f"positions: this {self.format} file has no acceptance by position, so no tree can be drawn from it")
        if max(rates) > 1:
            raise ValueError(f"positions: a rate of {max(rates):.3g} in this {self.format} file, allowed is 0 to 1")
        return EndingLandscape([*([rate] for rate in rates), [0.0]])


def reached_from_histogram(histogram: Sequence[int]) -> tuple[int, ...]:
    """Passes that accepted at least 0, 1, 2 ... from passes that accepted exactly so many.

    >>> reached_from_histogram([39, 1, 0, 3])
    (43, 4, 3, 3)
    """
    return tuple(int(count) for count in np.cumsum(list(histogram)[::-1])[::-1])


def added(histograms: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The histograms of several requests as one, shorter ones filled with zeros.

    >>> added([[1, 2], [0, 1, 5]])
    (1, 3, 5)
    """
    size = max(map(len, histograms), default=0)
    return tuple(sum(row[index] for row in histograms if index < len(row)) for index in range(size))
