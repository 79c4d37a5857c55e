"""DDD's stop: EAGLE-2's beam goes no deeper once it is unlikely that any of it is reached (arXiv 2409.00142)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..landscape import Landscape
from .base import (
    DEFAULT_LEVELS,
    LEVELS,
    MAX_DEPTH,
    TOP_K,
    Draft,
    Parameter,
    Policy,
    StoppedError,
    check_budget,
    check_share,
    check_whole,
)
from .layers import Layers, greatest

LEAST_MASS = Parameter(
    "least_mass",
    float,
    "stop drafting once the beam's path products sum to less",
    "least_mass: least chance to reach the beam",
    0.3,
    0,
    1,
    0.05,
)


@dataclass(frozen=True)
class Ddd(Policy):
    """EAGLE-2's expand and rerank, but the draft passes end once the beam's path products sum to less than ``least_mass``.

    The paper writes the same rule with logarithms: the log-sum-exp of the beam's cumulative log-probabilities below a threshold.
    The sum is the probability that one of the beam's nodes is reached. ``top_k`` and ``max_depth`` as in EAGLE-2. Raises
    ``StoppedError`` with the smaller tree where fewer than ``budget`` candidates were scored by then.

    Laws: the tree of EAGLE-2 with as many levels as draft passes were made; with ``least_mass`` 0 it is EAGLE-2.
    """

    name = "ddd"
    title = "DDD"
    reason = "the most probable of the {left} guesses not yet taken"
    parameters = (TOP_K, LEVELS, LEAST_MASS)
    expands_first = True
    stops = True
    top_k: int = 10
    max_depth: int = DEFAULT_LEVELS
    least_mass: float = 0.3

    def __post_init__(self) -> None:
        check_whole("top_k", self.top_k, 1, 256)
        check_whole("max_depth", self.max_depth, 1, MAX_DEPTH)
        check_share("least_mass", self.least_mass)

    def __call__(self, landscape: Landscape, budget: int) -> Draft:
        budget = check_budget(budget)
        layers = Layers(landscape, self.top_k)
        layers.descend(self.max_depth, self.top_k, lambda beam: math.fsum(beam) >= self.least_mass)
        draft = layers.draft(self, 1 + greatest(layers.scored(), budget))
        if draft.budget < budget:
            raise StoppedError(budget, draft, "lower least_mass, or raise top_k, max_depth or the candidates per node")
        return draft
