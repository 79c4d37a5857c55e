"""Tokens a second predicted from what was simulated and from the times of the parts of a cycle; nothing is fitted to an outcome."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from .cost import PassCost


@dataclass(frozen=True)
class PartTimes:
    """Milliseconds of the parts of one cycle on one machine, each measured by itself.

    ``verify`` the target's pass over n positions behind texts of the lengths given, rising; ``prefix`` the head's first pass over
    the rows that the text has gained; ``frontier`` a later head pass over so many nodes; ``rest`` what follows a pass over n
    positions: the verdict, and keeping what was accepted.
    """

    verify: tuple[tuple[int, PassCost], ...]
    prefix: PassCost
    frontier: PassCost
    rest: PassCost

    def verify_ms(self, positions: float, length: float) -> float:
        """A pass over ``positions`` behind a text of ``length`` tokens: linear between the lengths measured and beyond the
        longest; a shorter text counts as the shortest."""
        lengths = np.array([known for known, _ in self.verify], dtype=np.float64)
        times = np.array([float(cost.verify(positions)) for _, cost in self.verify])
        if len(lengths) == 1:
            return float(times[0])
        place = int(np.clip(np.searchsorted(lengths, length), 1, len(lengths) - 1))
        share = max(0.0, (length - lengths[place - 1]) / (lengths[place] - lengths[place - 1]))
        return float(times[place - 1] + share * (times[place] - times[place - 1]))


@dataclass(frozen=True)
class Rehearsed:
    """What one setting does in one context: nodes on each frontier after the root, nodes drafted (root not counted), tokens
    written, length of the text before, and ``policy_ms`` that the policy itself computes, its head passes left out.
    """

    widths: tuple[int, ...]
    nodes: int
    written: int
    length: int
    policy_ms: float


def cycle_ms(one: Rehearsed, times: PartTimes, rows: float) -> float:
    """Milliseconds of a cycle whose first head pass reads ``rows`` new rows of the text.

    >>> flat = PassCost("flat", (1, 2), (1.0, 1.0), 0.0)
    >>> cycle_ms(Rehearsed((4, 4), 9, 2, 100, 0.5), PartTimes(((64, flat),), flat, flat, flat), rows=2)
    5.5
    """
    drafting = float(times.prefix.verify(rows)) + math.fsum(float(times.frontier.verify(width)) for width in one.widths)
    positions = one.nodes + 1
    return drafting + one.policy_ms + times.verify_ms(positions, one.length) + float(times.rest.verify(positions))


def predicted_speed(contexts: Sequence[Rehearsed], prompts: Sequence[int], answers: Sequence[int], times: PartTimes) -> float:
    """Tokens a second behind the prompts' own passes: mean tokens over mean time of a cycle, and the head's pass over each prompt.

    ``prompts`` and ``answers`` tokens of each text. Raises ``ValueError`` without a context.
    """
    if not contexts:
        raise ValueError("contexts: none given, at least one is needed")
    tau = float(np.mean([one.written for one in contexts]))
    cycle = float(np.mean([cycle_ms(one, times, tau) for one in contexts]))
    tokens = sum(answers) - len(answers)
    reading = sum(max(0.0, float(times.prefix.verify(length)) - float(times.prefix.verify(tau))) for length in prompts)
    return 1000 * tokens / (tokens / tau * cycle + reading)


@dataclass(frozen=True)
class Predicted:
    """One setting in one precision: tokens a second predicted and measured, and the tau of both.

    Raises ``ValueError`` naming a number that is not above 0.
    """

    setting: str
    dtype: str
    predicted: float
    measured: float
    predicted_tau: float
    measured_tau: float

    def __post_init__(self) -> None:
        for name in ("predicted", "measured", "predicted_tau", "measured_tau"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name}: {getattr(self, name)!r} given for {self.setting}, allowed is a number above 0")

    @property
    def error(self) -> float:
        """predicted / measured - 1."""
        return self.predicted / self.measured - 1


@dataclass(frozen=True)
class PredictionReport:
    """All rows of a run. Raises ``ValueError`` without one."""

    rows: tuple[Predicted, ...]

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("rows: none given, at least one setting is needed")

    @property
    def median_error(self) -> float:
        """Median of the absolute errors."""
        return float(median(abs(row.error) for row in self.rows))

    @property
    def worst_error(self) -> float:
        """Largest absolute error."""
        return max(abs(row.error) for row in self.rows)

    @property
    def recommended(self) -> Predicted:
        """The row of the largest predicted speed."""
        return max(self.rows, key=lambda row: row.predicted)

    @property
    def share_of_best(self) -> float:
        """Measured speed of the recommended row over the best measured one: 1 where the right setting was named."""
        return self.recommended.measured / max(row.measured for row in self.rows)

    def to_json(self) -> dict:
        """Rows with their errors, and what they add up to."""
        rows = [dict(vars(row)) | {"error": row.error} for row in self.rows]
        summary = {name: getattr(self, name) for name in ("median_error", "worst_error", "share_of_best")}
        return {"rows": rows, **summary, "recommended": f"{self.recommended.setting}, {self.recommended.dtype}"}
