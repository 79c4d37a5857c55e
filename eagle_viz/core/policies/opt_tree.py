"""OPT-Tree: as many nodes a level as the tree may have, until one more level brings too little (arXiv 2406.17276)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..landscape import Landscape
from .base import DEFAULT_LEVELS, LEVELS, MAX_DEPTH, Draft, Parameter, Policy, StoppedError, check_budget, check_share, check_whole
from .layers import Layers, greatest

LEAST_GAIN = Parameter(
    "least_gain",
    float,
    "stop drafting once a level adds no more expected tokens",
    "least_gain: least tokens a level must add",
    0.1,
    0,
    1,
    0.01,
)


@dataclass(frozen=True)
class OptTree(Policy):
    """Expand the ``budget`` best nodes of each level, keep the ``budget`` best of all scored, stop once a level adds too little.

    A level adds the ``expected_accepted`` of the best tree with it minus that without it; the first level that adds at most
    ``least_gain`` (the paper's delta) is the last. It stays in the tree: it is drafted already. Needs frontiers as wide as the
    budget, so larger budgets are other draftings. Raises ``StoppedError`` with the smaller tree where too few were scored.

    Law: with ``least_gain`` 0 its ``expected_accepted`` is that of best-first under the same depth cap.
    """

    name = "opt_tree"
    title = "OPT-Tree"
    reason = "the most probable of the {left} guesses not yet taken"
    parameters = (LEVELS, LEAST_GAIN)
    nested = False
    stops = True
    max_depth: int = DEFAULT_LEVELS
    least_gain: float = 0.1

    def __post_init__(self) -> None:
        check_whole("max_depth", self.max_depth, 1, MAX_DEPTH)
        check_share("least_gain", self.least_gain)

    def __call__(self, landscape: Landscape, budget: int) -> Draft:
        budget = check_budget(budget)
        width = max(1, budget)
        layers = Layers(landscape, width)
        layers.descend(self.max_depth, width, lambda beam: added(layers, budget) > self.least_gain)
        draft = layers.draft(self, 1 + greatest(layers.scored(), budget))
        if draft.budget < budget:
            raise StoppedError(budget, draft, "lower least_gain, or raise max_depth or the candidates per node")
        return draft


def added(layers: Layers, budget: int) -> float:
    """Expected tokens that the newest layer adds to the best tree of ``budget`` nodes."""
    scored = layers.scored()
    with_it, without = (math.fsum(rows[greatest(rows, budget)]) for rows in (scored, scored[: layers.first - 1]))
    return with_it - without
