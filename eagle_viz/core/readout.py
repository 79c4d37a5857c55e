"""Numbers and sentences read off drafts: what the budget bought, where, and why each node was kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .landscape import Landscape, NotRecordedError
from .policies import POLICIES, Draft, Policy, PoolTooSmallError, StoppedError, read_choices
from .policies.fixed_order import EXAMPLE
from .tree import DraftTree, Path, path_name, rank_order


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
    """A policy from its name (with default parameters), from a list of nodes as EAGLE writes its ``choices``, or itself.

    Raises ``ValueError`` naming what is allowed.
    """
    if isinstance(policy, Policy):
        return policy
    if policy.lstrip()[:1] in ("[", "("):
        return read_choices(policy)
    if policy not in POLICIES:
        raise ValueError(f"policy: {policy!r} given, allowed is one of {', '.join(POLICIES)}, or a node list as in {EXAMPLE}")
    return POLICIES[policy]()


def compare(
    landscape: Landscape, budget: int = 25, static: str | Policy = "eagle1", dynamic: str | Policy = "eagle2"
) -> Comparison:
    """Spend the same budget by two policies on one landscape; raises what the policies raise.

    >>> from eagle_viz import RankLandscape
    >>> round(compare(RankLandscape([0.5, 0.25, 0.125, 0.0625]), budget=3, static="chain", dynamic="best_first").gain, 3)
    0.143
    """
    return Comparison(as_policy(static)(landscape, budget), as_policy(dynamic)(landscape, budget))


def draft_up_to(policy: Policy, landscape: Landscape, budget: int) -> tuple[Draft, PoolTooSmallError | None]:
    """The draft with this budget, or with all that the policy scores where that is less, and then the error that says so."""
    try:
        return policy(landscape, budget), None
    except StoppedError as error:
        return error.draft, error
    except PoolTooSmallError as error:
        return policy(landscape, error.available), error


def shortfall_sentence(policy: Policy, error: PoolTooSmallError, budget: int | str) -> str:
    """What ``draft_up_to`` says on the page and the command line alike: ``"EAGLE-2 found only 24 of 25 nodes ...; raise ..."``"""
    return f"{policy.title} found only {error.available} of {budget} nodes at these settings; {error.remedy}."


def comparison_remarks(static: Draft, dynamic: Draft) -> list[str]:
    """What must be said where these two trees stand side by side: nodes that are our own choice, and unequal sizes.

    Law: two trees of unequal size are never compared without a sentence that names both sizes.
    """
    remarks = [draft.policy.remark(draft) for draft in (static, dynamic)]
    if static.budget != dynamic.budget:
        sizes = f"{static.policy.title} has {static.budget} nodes, {dynamic.policy.title} {dynamic.budget}"
        remarks.append(f"The trees are of unequal size: {sizes}; the gain compares them as they are.")
    return [remark for remark in dict.fromkeys(remarks) if remark]


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

    Each entry is exactly rounded. Law: for a nested policy entry s equals, to the last bit, ``expected_accepted`` at budget s.
    """
    values = per_step(draft).tolist()
    return np.array([math.fsum(values[:kept]) for kept in range(len(values) + 1)])


def budget_curve(policy: Policy, landscape: Landscape, budget: int) -> np.ndarray:
    """[m + 1] float64: ``expected_accepted`` at budgets 0 .. m, where m is ``budget`` or all that the policy scores, if less."""
    draft, _ = draft_up_to(policy, landscape, budget)
    if policy.nested:
        return cumulative(draft)
    smaller = [policy(landscape, size).tree.expected_accepted for size in range(draft.budget)]
    return np.array([*smaller, draft.tree.expected_accepted])


def wasted_nodes(static: Draft, dynamic: Draft) -> tuple[Path, ...]:
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
    """A node by its rank path, as everywhere on the page; beyond twelve levels its middle is left out and the level named.

    >>> rank_label((0, 2, 1)), rank_label((0,) * 19 + (1,))
    ('node 0.2.1', 'node 0.0.0.0.….0.0.0.1 (level 20)')
    """
    if len(path) <= 12:
        return f"node {path_name(path)}"
    return f"node {path_name(path[:4])}.….{path_name(path[-4:])} (level {len(path)})"


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
    """What step ``step`` (1 .. budget) added and why: node, factors, path product, and what made this node the one.

    A fixed shape keeps a node because its table says so; a policy that looks keeps the best of the candidates on offer.
    """
    tree, path = draft.tree, draft.order[step - 1]
    node = tree.index[path]
    factors = path_confidences(tree, path)
    value = amount(float(tree.values[node]))
    price = f"{product_text(factors)} = {value}" if len(factors) > 1 else value
    reason = draft.policy.reason
    why = reason.format(left=on_offer(draft, step)) if "{left}" in reason else reason
    name = label(path, int(tree.tokens[node]))
    return f"{name[0].upper()}{name[1:]} is kept: {price}, {why}."


def coverage_sentence(coverage: float) -> str:
    """What a synthetic landscape assumes about the drafter's misses, on the page and the command line alike.

    >>> coverage_sentence(0.9)
    'Coverage 0.9: at each place the next token is with 10 % chance none of the candidates.'
    """
    if coverage == 1:
        return "Coverage 1: the next token is always one of the candidates. A real drafter misses some: try 0.9."
    return f"Coverage {coverage:g}: at each place the next token is with {1 - coverage:.0%} chance none of the candidates.".replace(
        "%", " %"
    )


def guess_standing(landscape: Landscape, path: Path, value: float, token: int) -> str:
    """Where the target's own ``token`` stood among the drafter's guesses below ``path`` (worth ``value``), for a tree without it.

    The one wording of a verdict, on the stage and beside it.
    """
    try:
        guesses = landscape.expand([path])[0]
    except NotRecordedError:
        return "below a leaf, where the drafter was not asked"
    ranks = (guesses.tokens == token).nonzero()[0]
    if not len(ranks):
        return f"not among the drafter's {len(guesses)} guesses"
    confidence = float(guesses.confidences[ranks[0]])
    worth = amount(value * confidence)
    return f"guess number {ranks[0] + 1} with confidence {amount(confidence)}: worth {worth}, which this tree did not keep"


def on_offer(draft: Draft, step: int) -> int:
    """How many candidates had been scored and not yet kept when step ``step`` chose among them.

    A policy that expands first chooses among its whole pool, best-first only among the children of what it kept so far.
    """
    kept = step - 1
    if draft.policy.expands_first:
        return draft.pool.budget - kept
    parents = [0, *(draft.pool.index[path] for path in draft.order[:kept])]
    return int(np.isin(draft.pool.parents, parents).sum()) - kept


def missed_sentences(draft: Draft, label: Label = rank_label) -> list[str]:
    """[budget + 1] sentences: for each number of kept nodes the next in line; the last is empty where everything scored was kept.

    For a nested policy entry s is also what misses budget s.
    """
    pool, kept = draft.pool, set(draft.order)
    missed = [path for path in pool.paths[1:] if path not in kept]
    line = list(draft.order)
    if missed:
        line.append(min(missed, key=lambda path: rank_order(float(pool.values[pool.index[path]]), path)))
    sentences = [_missed(draft.pool, path, before, label) for path, before in zip(line, [None, *line], strict=False)]
    return sentences if missed else [*sentences, ""]


def _missed(pool: DraftTree, path: Path, before: Path | None, label: Label) -> str:
    """Where the last node kept, ``before``, reads the same in two decimals, both are written so that they differ, or as a tie."""
    node = pool.index[path]
    value = float(pool.values[node])
    worth = amount(value) if before is None else _against(value, float(pool.values[pool.index[before]]))
    return f"Next best is {label(path, int(pool.tokens[node]))} ({worth}), but the budget is used up."


def _against(value: float, kept: float) -> str:
    """A value beside one that was kept: ``"0.06"``, ``"0.058 against 0.063"`` or ``"0.06, a tie"``."""
    if amount(value) != amount(kept):
        return amount(value)
    for digits in range(3, 7):
        if f"{value:.{digits}f}" != f"{kept:.{digits}f}":
            return f"{value:.{digits}f} against {kept:.{digits}f}"
    return f"{amount(value)}, a tie"
