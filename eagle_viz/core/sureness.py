"""How sure a drafter is of a text, and what a dynamic tree gains there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .landscape import Landscape, SyntheticLandscape
from .measured import Measured
from .population import Population
from .readout import relative_gain
from .reliability import mean_top
from .replay import Pass


@dataclass(frozen=True)
class Sureness:
    """One drafter on one text (or one family of landscapes), ``title`` for people.

    ``top`` mean confidence of the root's first candidate over ``contexts``; ``gain`` of one policy over another in expected
    accepted tokens, means over the same contexts: 0.31 is 31 % more, bonus not counted.
    """

    title: str
    contexts: int
    top: float
    gain: float


def sureness(title: str, landscapes: Sequence[Landscape], static: Sequence[Pass], dynamic: Sequence[Pass]) -> Sureness:
    """How sure the drafter is in these contexts, and what ``dynamic`` passes expect more than ``static`` ones there."""
    before, after = (float(np.mean([one.expected for one in passes])) for passes in (static, dynamic))
    return Sureness(title, len(dynamic), mean_top(landscapes), relative_gain(before, after))


def measured_sureness(table: Measured, static: str = "eagle1:25", dynamic: str = "eagle2:25") -> Sureness:
    """How sure a drafter is over a whole table of live contexts, and what one of its policies expects more than another there.

    Expected for sampling, which drafters of any reading promise. Raises ``MeasuredError`` where the table lacks a policy.
    """
    before, after = (table.standing(name).whole.sampled for name in (static, dynamic))
    return Sureness(table.drafter, table.contexts, table.top, relative_gain(before, after))


def synthetic_sureness(rows: Sequence[Population], branching: int, coverage: float, seeds: int) -> list[Sureness]:
    """EAGLE-2 over EAGLE-1's shape on synthetic landscapes, one entry a sharpness.

    ``top`` is the family's average first confidence, ``gain`` that of the means over ``seeds``.
    """
    tops = [SyntheticLandscape(0, row.sharpness, branching, coverage).family_average()[0][0] for row in rows]
    return [
        Sureness(f"sharpness {row.sharpness:g}", seeds, top, relative_gain(row.eagle1, row.eagle2))
        for row, top in zip(rows, tops, strict=True)
    ]
