"""The price of a node: draft and keep as long as that makes more expected tokens a second."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..cost import PassCost
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

NODE_PRICE = Parameter(
    "node_price",
    float,
    "time of one more position, of a pass over one",
    "node_price: one more node, of a one-token pass",
    0.02,
    0,
    0.5,
    0.005,
)
DRAFT_PRICE = Parameter(
    "draft_price",
    float,
    "time of a draft pass, of a target pass over one position",
    "draft_price: a draft pass, of a one-token pass",
    0.1,
    0,
    1,
    0.01,
)


@dataclass(frozen=True)
class Priced(Policy):
    """EAGLE-2's beam, ended where one more level would not pay, and of all scored the nodes that make most tokens a second.

    A cycle with L draft passes and n nodes writes f(n) = 1 + sum of the n largest path products, in t(n + 1) + c L milliseconds.
    The best rate R = f / (t + c L) is found by scanning n = 0 .. ``budget``: no other set of n scored nodes has a larger sum, and
    the n largest products are closed under ancestors. At the best n each kept node is worth at least R * (t(n + 1) - t(n)) tokens
    and the next one less: R times a node's milliseconds is its *price*, the tokens that these milliseconds make elsewhere (the
    condition that Dinkelbach's iteration ends at). After each level the next one is promised the beam's path products times the
    mean confidence by rank seen so far in this drafting; it is drafted if that raises the best rate, c included.

    Times: ``cost`` (milliseconds), or else t(n) = 1 + ``node_price`` (n - 1) and c = ``draft_price`` in units of a target pass over
    one position. Raises ``StoppedError`` with the smaller tree where fewer than ``budget`` nodes pay. Not nested: a larger budget
    may draft deeper.

    Laws: no ancestor-closed set of at most ``budget`` scored nodes has a larger rate with the passes made; with both prices 0 it
    keeps all that the budget allows.
    """

    name = "priced"
    title = "Priced nodes"
    reason = "worth more tokens than its time makes elsewhere"
    parameters = (TOP_K, LEVELS, NODE_PRICE, DRAFT_PRICE)
    nested = False
    stops = True
    top_k: int = 10
    max_depth: int = DEFAULT_LEVELS
    node_price: float = 0.02
    draft_price: float = 0.1
    cost: PassCost | None = None

    def __post_init__(self) -> None:
        check_whole("top_k", self.top_k, 1, 256)
        check_whole("max_depth", self.max_depth, 1, MAX_DEPTH)
        check_share("node_price", self.node_price, most=1e6)
        check_share("draft_price", self.draft_price, most=1e6)

    def __call__(self, landscape: Landscape, budget: int) -> Draft:
        budget = check_budget(budget)
        layers = Layers(landscape, self.top_k)
        layers.descend(self.max_depth, self.top_k, lambda beam: self._pays(layers, beam, budget))
        scored = layers.scored()
        count = int(np.argmax(self.rates(scored, layers.passes, budget)))
        draft = layers.draft(self, 1 + greatest(scored, count))
        if count < budget:
            raise StoppedError(budget, draft, "lower node_price or draft_price for a larger tree")
        return draft

    def rates(self, values: np.ndarray, passes: int, budget: int) -> np.ndarray:
        """[m + 1] float64: expected tokens a unit of time when the 0, 1, ... m <= ``budget`` largest of ``values`` are kept."""
        cost = self.cost or PassCost("prices", (1, 2), (1.0, 1.0 + self.node_price), self.draft_price)
        largest = np.sort(values)[::-1][:budget]
        tokens = 1 + np.concatenate(([0.0], np.cumsum(largest)))
        return tokens / (cost.verify(np.arange(1, len(tokens) + 1)) + passes * cost.draft_ms)

    def _pays(self, layers: Layers, beam: np.ndarray, budget: int) -> bool:
        """Whether the next level, as rich as the mean of those scored so far, would raise the best rate."""
        scored = layers.scored()
        promised = np.outer(beam, layers.rank_averages()).ravel()
        deeper = self.rates(np.concatenate([scored, promised]), layers.passes + 1, budget)
        return bool(deeper.max() > self.rates(scored, layers.passes, budget).max())
