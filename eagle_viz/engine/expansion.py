"""What is drafted below a root so that a recording answers for every shipped policy. Numpy alone: any landscape will do."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from eagle_viz.core.greedy import GreedyCalibration, in_reading, read_for_greedy
from eagle_viz.core.ladder import best_first_gaps
from eagle_viz.core.landscape import Candidates, Landscape
from eagle_viz.core.policies import Chain, Eagle1, Eagle2, Policy
from eagle_viz.core.policies.base import Scout
from eagle_viz.core.policies.layers import Layers
from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.recording import MAX_BUDGET, MAX_DEPTH, TOP_K
from eagle_viz.core.tree import ROOT, Path

Expanded = Mapping[Path, Candidates]
"""What is known below one root: the candidates of every expanded path."""

Price = Callable[[Expanded], dict[Path, Candidates]]
"""What the landscape has expanded beside the paths given, with the target's probabilities where they can be known."""

Expand = Callable[[Landscape, Price], dict[Path, Candidates]]
"""What to draft below an open root, with the target's probabilities beside the confidences."""

HOLDS = {"budget": MAX_BUDGET, "top_k": TOP_K, "max_depth": MAX_DEPTH}
"""What a whole recording answers for."""

CHAIN_DEPTH = 64
"""Levels that the chain is recorded to; beyond, its value is nothing and its cost is not."""
ORACLE_BUDGET = 64
"""Budget up to which best-first by the target's own probabilities (a ladder's last rung) is recorded."""
BEAMS = (
    *(Eagle2(top_k=width, max_depth=MAX_DEPTH) for width in range(1, TOP_K + 1)),
    Eagle2(top_k=TOP_K, max_depth=MAX_DEPTH, expand_by="confidence"),
)
"""Every EAGLE-2 that a page may run on a recording, as deep as it gets; the last one for the ablation."""


def expand_all(landscape: Landscape, price: Price, greedy: GreedyCalibration | None = None) -> dict[Path, Candidates]:
    """What every shipped policy expands, best-first also by the target's price: everything with the target's probabilities.

    With `greedy` in that reading of the confidences too. Below the deepest level of the others only the chain goes on, and there
    only its first candidate is kept.
    """
    expand_levels(landscape, MAX_BUDGET)
    draft_up_to(Eagle1(), landscape, MAX_BUDGET)
    for calibration in dict.fromkeys((None, greedy)):
        expand_beams(in_reading(landscape, calibration), BEAMS)
        while gaps := best_first_gaps(read_for_greedy(landscape.expanded, calibration), MAX_BUDGET, MAX_DEPTH):
            landscape.expand(gaps)
    wanted = set(landscape.expanded)
    draft_up_to(Chain(), landscape, CHAIN_DEPTH)
    known = close_by_target(landscape, price, price({}))
    return {path: row if path in wanted or len(path) < MAX_DEPTH else first_only(row) for path, row in known.items()}


def expand_for(policies: Sequence[Policy], greedy: GreedyCalibration | None = None) -> Expand:
    """What these policies expand at budgets up to the largest, and no more: quick enough to wait for.

    With `greedy` in that reading of the confidences too.
    """

    def expand(landscape: Landscape, price: Price) -> dict[Path, Candidates]:
        for calibration in dict.fromkeys((None, greedy)):
            for policy in policies:
                draft_up_to(policy, in_reading(landscape, calibration), MAX_BUDGET)
        return price({})

    return expand


def first_only(row: Candidates) -> Candidates:
    """The most confident candidate alone."""
    target = row.target_probabilities
    return Candidates(row.tokens[:1], row.confidences[:1], None if target is None else target[:1])


def close_by_target(landscape: Landscape, price: Price, known: dict[Path, Candidates]) -> dict[Path, Candidates]:
    """Expand until best-first by the target's own probabilities finds all it asks for, up to the ladder's budget.

    Nothing is added where the target cannot tell some of these probabilities.
    """
    while all(row.target_probabilities is not None for row in known.values()):
        gaps = best_first_gaps(known, ORACLE_BUDGET, MAX_DEPTH, by_target=True)
        if not gaps:
            break
        landscape.expand(gaps)
        known = known | price(known)
    return known


def expand_beams(landscape: Landscape, policies: Sequence[Eagle2]) -> None:
    """Run the expand phases of many EAGLE-2s side by side: one pass a layer serves them all."""
    layers = [Layers(landscape, policy.top_k) for policy in policies]
    beams = [np.zeros(1, dtype=np.int64) for _ in policies]
    for level in range(max(policy.max_depth for policy in policies)):
        landscape.expand(sorted({path for made, beam in zip(layers, beams, strict=True) for path in made.paths(beam)}))
        for place, policy in enumerate(policies):
            if len(beams[place]):
                layers[place].expand(beams[place])
                deeper = level + 1 < policy.max_depth
                beams[place] = policy.choose(layers[place]) if deeper else beams[place][:0]


def expand_levels(landscape: Landscape, budget: int) -> None:
    """Expand whole levels until `budget` nodes are scored, as `max_sweep` does."""
    scout, frontier = Scout(landscape), [ROOT]
    while len(scout.nodes) < budget:
        frontier = scout.expand(frontier)
