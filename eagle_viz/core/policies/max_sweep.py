"""The misconception as a policy: maximise the probability that some path is accepted to its very end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..landscape import Landscape
from ..tree import ROOT, Path
from .base import MAX_DEPTH, Draft, Policy, PoolTooSmallError, Scout, check_budget

LEVEL_PRICE = 1e-9
"""Taken from the objective for each level of each node, so that among equal sweeps the shallower tree wins."""


@dataclass(frozen=True)
class MaxSweep(Policy):
    """Of all trees with ``budget`` nodes in the fewest levels that can hold them, the one with the largest sum of leaf values.

    That sum is the probability that a whole branch is accepted. Without the limit on levels the optimum would
    hide its surplus nodes in worthless deep chains. Exact, by dynamic programming over (node, nodes below it). Not nested in the
    budget.

    Law: no other tree of that size and depth has a larger ``sweep_probability`` (to 1e-5), and its ``expected_accepted`` never
    exceeds best-first's.
    """

    name = "max_sweep"
    title = "Safest tree"
    reason = "part of the tree most likely to have a whole branch accepted"
    nested = False

    def __call__(self, landscape: Landscape, budget: int) -> Draft:
        budget = check_budget(budget)
        scout = Scout(landscape)
        _expand_until(scout, budget, self.name)
        kept = _best_leaves(scout, budget)
        return scout.draft(self, scout.by_value(kept))


def _expand_until(scout: Scout, budget: int, name: str) -> None:
    frontier: list[Path] = [ROOT]
    while len(scout.nodes) < budget:
        if not frontier or len(frontier[0]) >= MAX_DEPTH:
            raise PoolTooSmallError(name, budget, len(scout.nodes), "raise the candidates per node or the depth of the landscape")
        frontier = scout.expand(frontier)


def _best_leaves(scout: Scout, budget: int) -> list[Path]:
    """The kept paths of the best tree, found bottom-up and read back from the root."""
    children: dict[Path, list[Path]] = {}
    for path in scout.nodes:
        children.setdefault(path[:-1], []).append(path)
    plans: dict[Path, _Plan] = {}
    for path in sorted([ROOT, *scout.nodes], key=len, reverse=True):
        below = [plans[child] for child in children.get(path, [])]
        leaf = scout.values[path] - LEVEL_PRICE * len(path)
        plans[path] = _Plan(leaf, children.get(path, []), below, budget, LEVEL_PRICE * len(path))
    kept: list[Path] = []
    stack = [(ROOT, budget)]
    while stack:
        path, count = stack.pop()
        for child, below in plans[path].split(count):
            kept.append(child)
            stack.append((child, below))
    return kept


class _Plan:
    """Best score of a node's subtree for each number of nodes below it, and how those are dealt to its children."""

    def __init__(self, leaf: float, children: list[Path], plans: list[_Plan], budget: int, level_price: float) -> None:
        self.children = children
        self.choices: list[np.ndarray] = []
        best = np.zeros(1)
        for plan in plans:
            best, choice = add_child(best, plan.scores, budget)
            self.choices.append(choice)
        self.scores = best - level_price
        self.scores[0] = leaf

    def split(self, count: int) -> list[tuple[Path, int]]:
        """The kept children and the number of nodes below each, when ``count`` nodes lie below this node."""
        dealt = []
        for child, choice in zip(reversed(self.children), reversed(self.choices), strict=True):
            given = int(choice[count])
            if given:
                dealt.append((child, given - 1))
            count -= given
        return dealt[::-1]


def add_child(best: np.ndarray, child: np.ndarray, budget: int) -> tuple[np.ndarray, np.ndarray]:
    """Max-plus convolution: spend 0 nodes on the child, or 1 + m on it with m below. The choice is the number spent."""
    size = min(budget, len(best) - 1 + len(child)) + 1
    padded = np.full(size, -np.inf)
    padded[: len(best)] = best[:size]
    total, choice = padded.copy(), np.zeros(size, dtype=np.int64)
    for below, score in enumerate(child[: size - 1]):
        spent = below + 1
        shifted = padded[: size - spent] + score
        better = shifted > total[spent:]
        total[spent:][better] = shifted[better]
        choice[spent:][better] = spent
    return total, choice
