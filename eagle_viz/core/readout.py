"""Numbers and sentences read off drafts: what the budget bought, where, and why each node was kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

import numpy as np

from .landscape import Landscape
from .policies import POLICIES, Draft, Policy, PoolTooSmallError
from .tree import DraftTree, Path, path_name


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two drafts with the same budget over the same landscape."""

    static: Draft
    dynamic: Draft

    @property
    def gain(self) -> float:
        """dynamic / static ``expected_accepted`` - 1: 0.31 is 31 % more accepted drafted tokens, bonus not counted."""
        return relative_gain(self.static.tree.expected_accepted, self.dynamic.tree.expected_accepted)


def relative_gain(static: float, dynamic: float) -> float:
    """dynamic / static - 1; 0 where both are 0, infinite where only static is."""
    if static == 0:
        return 0.0 if dynamic == 0 else math.inf
    return dynamic / static - 1


def as_policy(policy: str | Policy) -> Policy:
    """A policy from its name (with default parameters) or itself; raises ``ValueError`` naming what is allowed."""
    if isinstance(policy, Policy):
        return policy
    if policy not in POLICIES:
        raise ValueError(f"policy: {policy!r} given, allowed is one of {', '.join(POLICIES)}")
    return POLICIES[policy]()


def compare(
    landscape: Landscape, budget: int = 25, static: str | Policy = "eagle1", dynamic: str | Policy = "eagle2"
) -> Comparison:
    """Spend the same budget by two policies on one landscape; raises what the policies raise.

    >>> from eagle_viz import RankLandscape
    >>> round(compare(RankLandscape([0.5, 0.25, 0.125, 0.0625]), budget=15, static="chain", dynamic="best_first").gain, 3)
    0.957
    """
    return Comparison(as_policy(static)(landscape, budget), as_policy(dynamic)(landscape, budget))


def draft_up_to(policy: Policy, landscape: Landscape, budget: int) -> tuple[Draft, PoolTooSmallError | None]:
    """The draft with this budget, or with all that the policy scores where that is less, and then the error that says so."""
    try:
        return policy(landscape, budget), None
    except PoolTooSmallError as error:
        return policy(landscape, error.available), error


def sweep_probability(tree: DraftTree) -> float:
    """Probability that some path is accepted to its end: the sum of the leaves' values (0 for a bare root).

    Paths to different leaves part at some node, where at most one child is accepted, so their events exclude each other.
    """
    return math.fsum(tree.values[tree.leaves].tolist())


def per_depth(tree: DraftTree) -> np.ndarray:
    """[depth] float64: expected accepted tokens by level 1, 2, ...; sums to ``expected_accepted``."""
    return np.bincount(tree.depths[1:], weights=tree.values[1:], minlength=tree.depth + 1)[1:]


def per_step(draft: Draft) -> np.ndarray:
    """[budget] float64: value of each kept node in reveal order."""
    return draft.tree.values[[draft.tree.index[path] for path in draft.order]]


def cumulative(draft: Draft) -> np.ndarray:
    """[budget + 1] float64: expected accepted after each step, 0 first, ``expected_accepted`` last.

    For a nested policy entry s is also what the policy gets with budget s.
    """
    steps = np.array([0.0, *accumulate(per_step(draft).tolist())])
    steps[-1] = draft.tree.expected_accepted
    return steps


def budget_curve(policy: Policy, landscape: Landscape, budget: int) -> np.ndarray:
    """[m + 1] float64: ``expected_accepted`` at budgets 0 .. m, where m is ``budget`` or all that the policy scores, if less."""
    draft, _ = draft_up_to(policy, landscape, budget)
    if policy.nested:
        return cumulative(draft)
    smaller = [policy(landscape, size).tree.expected_accepted for size in range(draft.budget)]
    return np.array([*smaller, draft.tree.expected_accepted])


def misspent(static: Draft, dynamic: Draft) -> tuple[Path, ...]:
    """Static nodes worth less than the smallest value the dynamic tree keeps, in reveal order."""
    if not dynamic.order:
        return ()
    least = dynamic.tree.values[1:].min()
    values = static.tree.values
    return tuple(path for path in static.order if values[static.tree.index[path]] < least)


# -- sentences ---------------------------------------------------------------------------------------------------------

Label = Callable[[Path, int], str]
"""Names a node from its path and token id."""


def rank_label(path: Path, token: int = -1) -> str:
    """A path in words short enough for a sentence: runs of one rank are counted, ``(0, 0, 0, 1)`` is ``"0 (3 times), 1"``.

    >>> rank_label((0,) * 12)
    '0 (12 times)'
    """
    runs = [(rank, len(list(group))) for rank, group in groupby(path)]
    if len(path) <= 3:
        return path_name(path)
    return ", ".join(f"{rank} ({count} times)" if count > 1 else str(rank) for rank, count in runs)


def product_text(confidences: Sequence[float]) -> str:
    """A path product in factors, the middle left out from five on: ``"0.57 x 0.78 x … x 0.99 x 0.95"``."""
    factors = [amount(value) for value in confidences]
    if len(factors) > 4:
        factors = [*factors[:2], "…", *factors[-2:]]
    return " × ".join(factors)


def amount(value: float) -> str:
    """A probability in two decimals, or ``"<0.01"`` where that would read as nothing."""
    return "<0.01" if 0 < value < 0.005 else f"{value:.2f}"


def path_confidences(tree: DraftTree, path: Path) -> list[float]:
    """Confidences along a path, the root's 1 left out."""
    return [float(tree.confidences[tree.index[path[: depth + 1]]]) for depth in range(len(path))]


def step_sentence(draft: Draft, step: int, label: Label = rank_label) -> str:
    """What step ``step`` (1 .. budget) added and why: node, factors, path product, and the candidate next in line."""
    tree = draft.tree
    path = draft.order[step - 1]
    value = float(tree.values[tree.index[path]])
    name = label(path, int(tree.tokens[tree.index[path]]))
    factors = path_confidences(tree, path)
    price = f"{product_text(factors)} = {amount(value)}" if len(factors) > 1 else amount(value)
    why = POLICIES[draft.policy].reason.format(left=draft.pool.budget - (step - 1))
    return f"{name} is kept: {price}, {why}."


def next_in_line(draft: Draft, label: Label = rank_label) -> str:
    """The best candidate that just missed the budget, with its value; an empty sentence where everything scored was kept."""
    pool = draft.pool
    kept = set(draft.order)
    missed = [i for i in range(1, len(pool)) if pool.paths[i] not in kept]
    if not missed:
        return ""
    best = min(missed, key=lambda i: (-pool.values[i], len(pool.paths[i]), pool.paths[i]))
    name = label(pool.paths[best], int(pool.tokens[best]))
    return f"Next in line: {name}, at {amount(float(pool.values[best]))}, misses the budget."
