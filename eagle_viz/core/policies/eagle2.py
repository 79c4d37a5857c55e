"""EAGLE-2's dynamic tree (arXiv 2406.16858, section 4): expand a beam layer by layer, then rerank the whole pool."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..landscape import Landscape
from .base import DEFAULT_LEVELS, LEVELS, MAX_DEPTH, TOP_K, Draft, Parameter, Policy, PoolTooSmallError, check_budget, check_whole
from .layers import Layers, greatest

EXPAND_BY = ("value", "confidence")
EARLY_STOP = Parameter("early_stop", bool, "stop drafting once deeper levels cannot change the tree")


@dataclass(frozen=True)
class Eagle2(Policy):
    """Expand the ``top_k`` best nodes of each of ``max_depth`` layers, then keep the ``budget`` best of everything scored.

    ``max_depth`` counts levels below the root, which are draft passes too (EAGLE's ``depth`` + 1); ``budget`` does not count
    the root (EAGLE's ``total_token`` - 1). ``expand_by`` and ``rerank`` switch off its two ideas one by one, as the paper's
    ablation does: a frontier chosen by a node's own confidence instead of its path product; and no rerank: the frontiers
    themselves are kept, layer by layer. ``early_stop`` (not in the paper) ends the draft passes as soon as no deeper candidate
    can be worth more than the ``budget`` best scored so far.
    Raises ``PoolTooSmallError`` where fewer than ``budget`` candidates are scored: k + (max_depth - 1) k^2 at most.

    Laws: with ``top_k >= budget`` it equals best-first under the same depth cap; ``early_stop`` changes the passes and never the
    tree.
    """

    name = "eagle2"
    title = "EAGLE-2"
    reason = "the most probable of the {left} guesses not yet taken"
    parameters = (TOP_K, LEVELS, EARLY_STOP)
    expands_first = True
    top_k: int = 10
    max_depth: int = DEFAULT_LEVELS
    expand_by: str = "value"
    rerank: bool = True
    early_stop: bool = False

    def __post_init__(self) -> None:
        check_whole("top_k", self.top_k, 1, 256)
        check_whole("max_depth", self.max_depth, 1, MAX_DEPTH)
        if self.expand_by not in EXPAND_BY:
            raise ValueError(f"expand_by: {self.expand_by!r} given, allowed is {' or '.join(EXPAND_BY)}")
        if self.early_stop and not (self.rerank and self.expand_by == "value"):
            raise ValueError("early_stop: True given, allowed is only with rerank and expand_by value: else deeper nodes may count")

    def __call__(self, landscape: Landscape, budget: int) -> Draft:
        budget = check_budget(budget)
        layers = Layers(landscape, self.top_k)
        beams = self.expand(layers, budget if self.early_stop else None)
        kept = 1 + greatest(layers.scored(), budget) if self.rerank else np.concatenate(beams)[:budget]
        if len(kept) < budget:
            raise PoolTooSmallError(self.name, budget, len(kept), "raise top_k, max_depth or the candidates per node")
        return layers.draft(self, kept)

    def passes_at(self, draft: Draft) -> np.ndarray:
        return passes_needed(draft) if self.early_stop else super().passes_at(draft)

    def engine_setting(self, budget: int) -> tuple[int, int, int] | None:
        own = self.rerank and self.expand_by == "value"
        return (budget, self.top_k, self.max_depth) if own else None

    def stopping_early(self) -> Policy | None:
        return replace(self, early_stop=True) if self.rerank and self.expand_by == "value" and not self.early_stop else None

    def expand(self, layers: Layers, enough: int | None = None) -> list[np.ndarray]:
        """Run the draft passes; the chosen beam of each layer, best first (the last one is never expanded).

        ``enough``: stop when the beam's best is worth no more than the best ``enough`` scored: its children are worth no more
        than it, and at equal value the shallower node goes first.
        """
        beams: list[np.ndarray] = []
        frontier = np.zeros(1, dtype=np.int64)
        for level in range(1, self.max_depth + 1):
            layers.expand(frontier)
            frontier = self.choose(layers)
            beams.append(frontier)
            asks = enough is not None and level < self.max_depth and layers.size > enough
            if not len(frontier) or (asks and settled(layers, frontier[0], enough)):
                break
        return beams

    def choose(self, layers: Layers) -> np.ndarray:
        """The next frontier: the ``top_k`` best rows of the newest layer only."""
        worth = layers.values if self.expand_by == "value" else layers.confidences
        return layers.first + greatest(worth, self.top_k)


def settled(layers: Layers, best: int, budget: int) -> bool:
    """Whether nothing below row ``best`` of the newest layer can enter the ``budget`` most valuable rows scored so far."""
    return np.count_nonzero(layers.scored() >= layers.values[best - layers.first]) >= budget


def passes_needed(draft: Draft) -> np.ndarray:
    """[budget + 1] draft passes after which nothing deeper can enter the tree of an EAGLE-2 that keeps 0, 1, ... nodes.

    Law: entry N is the ``passes`` of the same policy with ``early_stop`` and budget N; entry 0 is 0, nothing has to be drafted.
    """
    needed = np.full(draft.budget + 1, draft.passes)
    needed[0] = 0
    values, depths = draft.pool.values, draft.pool.depths
    for level in range(draft.passes - 1, 0, -1):
        best = values[depths == level].max(initial=0.0)
        scored = np.sort(values[(depths >= 1) & (depths <= level)])[::-1][: draft.budget]
        needed[1 : len(scored) + 1][best <= scored] = level
    return needed
