"""A chain that ends where the drafter is unsure: the stop of Hugging Face's assistant and of llama.cpp."""

from __future__ import annotations

from dataclasses import dataclass

from ..landscape import Landscape
from ..tree import ROOT
from .base import MAX_DEPTH, Draft, Parameter, Policy, PoolTooSmallError, Scout, StoppedError, check_budget, check_share

STOP_BELOW = Parameter(
    "stop_below", float, "end the chain at a confidence below this", "stop_below: least confidence of the chain", 0.4, 0, 1, 0.05
)
KEEP_UNSURE = Parameter("keep_unsure", bool, "keep the unsure token that ends the chain, as Hugging Face does")


@dataclass(frozen=True)
class ConfidentChain(Policy):
    """The most confident child of the most confident child, until one has a confidence below ``stop_below``.

    That one is left out, as in llama.cpp (``--draft-p-min``, common/speculative.cpp, 2026), or kept as the last one with
    ``keep_unsure``, as in Hugging Face's assisted generation (``assistant_confidence_threshold`` 0.4, ``ConfidenceCriteria``) and
    earlier llama.cpp. The draft pass that found it counts either way. Raises ``StoppedError`` with the shorter chain where it ends
    before the budget. Law: it is the first nodes of ``Chain``; with ``stop_below`` 0 it is ``Chain``.
    """

    name = "confident_chain"
    title = "Chain until unsure"
    reason = "next in the chain: the drafter was sure so far"
    parameters = (STOP_BELOW, KEEP_UNSURE)
    single_path = True
    stops = True
    stop_below: float = 0.4
    keep_unsure: bool = False

    def __post_init__(self) -> None:
        check_share("stop_below", self.stop_below)

    def __call__(self, landscape: Landscape, budget: int) -> Draft:
        budget = check_budget(budget)
        scout, order, path = Scout(landscape, top_k=1), [], ROOT
        while len(order) < budget:
            found = scout.expand([path]) if len(path) < MAX_DEPTH else []
            if not found:
                raise PoolTooSmallError(self.name, budget, len(order), "raise the depth of the landscape")
            path = found[0]
            unsure = scout.nodes[path].confidence < self.stop_below
            if not unsure or self.keep_unsure:
                order.append(path)
            if unsure and len(order) < budget:
                raise StoppedError(budget, scout.draft(self, order), "lower stop_below for a longer chain")
        return scout.draft(self, order)
