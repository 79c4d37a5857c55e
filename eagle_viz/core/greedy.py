"""What a drafter's confidences say of greedy decoding: the chance that a candidate is the target's first choice.

A head is trained and calibrated to predict the target's distribution, so the sum of path products is what *sampling* at
temperature 1 accepts. Greedy decoding takes the target's first choice alone, and a likely token is the first choice more often than
it is likely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .hashing import GRID
from .landscape import AverageTable, Candidates, Landscape
from .tree import Path

CANDIDATES = 10
"""Candidates a node that a calibration is fitted for; the rest of the probability counts as one more choice."""


@dataclass(frozen=True)
class GreedyCalibration:
    """q_i = p_i^a / (sum_j p_j^a + e^c * rest^b) over a node's ten candidates p, with rest = 1 - sum_j p_j.

    ``power`` a > 0 by depth of the candidates from 1 on (the last one goes on), ``rest_power`` b > 0, ``rest_weight`` c.
    Raises ``ValueError`` naming the field. Law: order and count of the candidates stay, and their sum is at most 1.

    >>> GreedyCalibration(power=(2.0,), rest_power=2.0, rest_weight=0.0)(np.array([0.6, 0.2]), depth=1).round(3).tolist()
    [0.818, 0.091]
    """

    power: tuple[float, ...]
    rest_power: float
    rest_weight: float

    def __post_init__(self) -> None:
        if not self.power or not all(_number(a) and 0 < a <= 100 for a in self.power):
            raise ValueError(f"power: {list(self.power)} given, allowed is one number above 0, up to 100, for each depth")
        if not (_number(self.rest_power) and 0 < self.rest_power <= 100):
            raise ValueError(f"rest_power: {self.rest_power!r} given, allowed is a number above 0, up to 100")
        if not (_number(self.rest_weight) and -100 <= self.rest_weight <= 100):
            raise ValueError(f"rest_weight: {self.rest_weight!r} given, allowed is a number from -100 to 100")

    def __call__(self, confidences: np.ndarray, depth: int) -> np.ndarray:
        """The chance [m] of each of a node's candidates, at ``depth`` (1 below the root), to be the target's first choice.

        Candidates beyond the tenth share what the formula leaves to the rest, in proportion to their confidences.
        """
        p = np.asarray(confidences, dtype=np.float64)
        best = p[:CANDIDATES]
        rest = max(0.0, 1.0 - float(best.sum()))
        weights = best ** self.power[min(depth, len(self.power)) - 1]
        others = float(np.exp(self.rest_weight) * rest**self.rest_power)
        total = float(weights.sum()) + others
        if total == 0:
            return np.zeros_like(p)
        q = weights / total
        further = np.minimum(p[CANDIDATES:] * (others / total / rest if rest else 0.0), q[-1])
        # Rounded down, so that rounding never lifts a sum above 1.
        return np.floor(np.concatenate([q, further]) * GRID) / GRID

    def read(self, row: Candidates, depth: int) -> Candidates:
        """A node's candidates with their chances for confidences; tokens and the target's probabilities stay."""
        return Candidates(row.tokens, self(row.confidences, depth), row.target_probabilities)

    def to_json(self) -> dict[str, object]:
        """Plain numbers under the fields' own names."""
        return {"power": list(self.power), "rest_power": self.rest_power, "rest_weight": self.rest_weight}

    @classmethod
    def from_json(cls, given: object) -> GreedyCalibration:
        """The other way; raises ``ValueError`` naming what is missing, unknown or out of range."""
        fields = ("power", "rest_power", "rest_weight")
        if not isinstance(given, dict) or set(given) != set(fields) or not isinstance(given["power"], list):
            raise ValueError(f"greedy: {given!r} given, allowed is an object of {', '.join(fields)}, the first a list")
        return cls(tuple(given["power"]), given["rest_power"], given["rest_weight"])


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


class GreedyLandscape(Landscape):
    """The same candidates as ``base``, their confidences read for greedy decoding.

    Ranks, tokens and the target's probabilities are those of ``base``; ``average`` is the table over other contexts in this
    reading.
    """

    def __init__(self, base: Landscape, calibration: GreedyCalibration, average: AverageTable | None = None) -> None:
        self.base, self.calibration, self.root_token, self._average = base, calibration, base.root_token, average

    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        found = self.base.expand(paths)
        return [self.calibration.read(row, len(path) + 1) for path, row in zip(paths, found, strict=True)]

    def token_text(self, token: int) -> str | None:
        return self.base.token_text(token)

    def family_average(self) -> AverageTable | None:
        return self._average


def read_for_greedy(candidates: Mapping[Path, Candidates], calibration: GreedyCalibration | None) -> dict[Path, Candidates]:
    """Known candidates by path with their confidences read for greedy decoding; as they are without a calibration."""
    if calibration is None:
        return dict(candidates)
    return {path: calibration.read(row, len(path) + 1) for path, row in candidates.items()}


def in_reading(landscape: Landscape, calibration: GreedyCalibration | None) -> Landscape:
    """The landscape read for greedy decoding, or as it is without a calibration."""
    return landscape if calibration is None else GreedyLandscape(landscape, calibration)


def as_drafted(landscape: Landscape) -> Landscape:
    """The landscape with the drafter's own confidences, whichever reading it is given in."""
    return landscape.base if isinstance(landscape, GreedyLandscape) else landscape
