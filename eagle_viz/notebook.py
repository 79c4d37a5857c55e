"""``compare`` as the package offers it: the comparison, and in a notebook the interactive stage under the cell."""

from __future__ import annotations

import html
from dataclasses import dataclass

from .core.landscape import Landscape
from .core.policies import Policy
from .core.readout import Comparison, as_policy
from .core.readout import compare as core_compare

HEIGHT = 640
"""Pixels of the frame: the two trees side by side, controls and readouts."""


@dataclass(frozen=True)
class ShownComparison(Comparison):
    """A comparison that remembers what it was drafted from, so that a notebook can show it step by step."""

    landscape: Landscape
    policies: tuple[Policy, Policy]

    def _repr_html_(self) -> str:
        """The offline player in a frame of its own: nothing is loaded from elsewhere."""
        from .stage.player import player_html
        from .stage.trace import build_trace, tier_of

        budget = self.static.budget
        trace = build_trace(self.landscape, *self.policies, tier=tier_of(budget), budget=budget)
        page = html.escape(player_html(trace, budget=budget), quote=True)
        return f'<iframe srcdoc="{page}" title="Draft trees" width="100%" height="{HEIGHT}" style="border:0"></iframe>'


def compare(
    landscape: Landscape, budget: int = 25, static: str | Policy = "eagle1", dynamic: str | Policy = "eagle2"
) -> ShownComparison:
    """Spend the same budget by two policies on one landscape; raises what the policies raise.

    In a notebook the result shows itself as the interactive stage.

    >>> from eagle_viz import RankLandscape
    >>> round(compare(RankLandscape([0.5, 0.25, 0.125, 0.0625]), budget=3, static="chain", dynamic="best_first").gain, 3)
    0.143
    """
    policies = as_policy(static), as_policy(dynamic)
    pair = core_compare(landscape, budget, *policies)
    return ShownComparison(pair.static, pair.dynamic, landscape, policies)
