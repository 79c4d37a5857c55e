"""Recorded cycles replayed under any policy and budget: the tree drafted there, and what the target makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .policies import Draft
from .recording import RecordedCycle
from .reliability import clustered_mean
from .tree import DraftTree


@dataclass(frozen=True)
class Pass:
    """One replayed verify pass: ``budget`` nodes drafted (root not counted), levels, nodes on the widest level.

    ``expected`` accepted tokens by the drafter's confidences, ``accepted`` by the target's text; bonus not counted in either.
    ``written`` tokens that the pass adds to the answer: the bonus counted, cut at the end token and the limit.
    """

    budget: int
    depth: int
    width: int
    expected: float
    accepted: int
    written: int


def kept_at(draft: Draft, budget: int) -> DraftTree:
    """The tree of the first ``budget`` nodes in reveal order (all of them where there are fewer).

    Law: for a nested policy it is the tree drafted with that budget.
    """
    return draft.tree.keep(draft.order[:budget])


def replay(cycle: RecordedCycle, tree: DraftTree) -> Pass:
    """What this tree would have got in a recorded cycle."""
    levels = np.bincount(tree.depths)[1:]
    width = int(levels.max()) if len(levels) else 0
    accepted = cycle.verdict(tree).accept_length
    return Pass(tree.budget, tree.depth, width, tree.expected_accepted, accepted, cycle.written(accepted))


def accepted_curve(cycle: RecordedCycle, draft: Draft) -> np.ndarray:
    """[budget + 1] int: drafted tokens accepted at budgets 0 .. ``draft.budget`` of a nested policy, bonus not counted.

    Law: entry b is ``replay(cycle, kept_at(draft, b)).accepted``.
    """
    step = {path: number for number, path in enumerate(draft.order, start=1)}
    bought = [step[draft.tree.paths[node]] for node in cycle.verdict(draft.tree).accepted]
    return np.searchsorted(bought, np.arange(draft.budget + 1), side="right")


def written_curve(cycle: RecordedCycle, draft: Draft) -> np.ndarray:
    """[budget + 1] int: tokens that a pass writes at budgets 0 .. ``draft.budget`` of a nested policy, bonus counted.

    Law: entry b is ``replay(cycle, kept_at(draft, b)).written``.
    """
    return cut(cycle, accepted_curve(cycle, draft))


def cut(cycle: RecordedCycle, accepted: np.ndarray) -> np.ndarray:
    """``cycle.written`` of each of these accept lengths, int in the same shape."""
    return accepted + 1 if cycle.room is None else np.minimum(accepted + 1, cycle.room)


def unequal_sentence(static: Sequence[Pass], dynamic: Sequence[Pass]) -> str:
    """In how many passes the two trees are of unequal size, for a place that compares them; empty where all are equal."""
    count = sum(one.budget != other.budget for one, other in zip(static, dynamic, strict=True))
    return f"In {count} of {len(static)} passes the two trees are of unequal size." if count else ""


def spread_sentence(title: str, passes: Sequence[Pass]) -> str:
    """How one policy's trees differ from context to context; raises ``ValueError`` without a pass.

    >>> spread_sentence("EAGLE-2", [Pass(25, 6, 9, 0.8, 1, 2), Pass(25, 3, 12, 4.06, 5, 6)])
    'From pass to pass: EAGLE-2 is 3 to 6 levels deep and 9 to 12 nodes wide, expects 0.8 to 4.1 accepted tokens and writes 2 to 6.'
    """
    if not passes:
        raise ValueError("passes: none given, at least one is needed")
    deep, wide, expects, writes = (
        _range([getattr(one, field) for one in passes], digits)
        for field, digits in (("depth", 0), ("width", 0), ("expected", 1), ("written", 0))
    )
    shape = f"{title} is {deep} levels deep and {wide} nodes wide"
    return f"From pass to pass: {shape}, expects {expects} accepted tokens and writes {writes}."


def _range(values: Sequence[float], digits: int) -> str:
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def lead_sentence(titles: tuple[str, str], static: Sequence[Pass], dynamic: Sequence[Pass]) -> str:
    """What one policy writes more a pass than the other on the same passes, with a 95 % interval, and whether that is chance.

    Empty for fewer than two passes, of which no interval can be told.
    """
    apart = [other.written - one.written for one, other in zip(static, dynamic, strict=True)]
    if len(apart) < 2:
        return ""
    mean, low, high = clustered_mean(apart, range(len(apart)))
    chance = " So few passes cannot tell which of the two is ahead." if low <= 0 <= high else ""
    return f"{titles[1]} writes {mean:+.2f} tokens a pass against {titles[0]} (95 % interval {low:+.2f} to {high:+.2f}).{chance}"


GREEDY = "Expected counts sampling at temperature 1; these answers were decoded greedily: the target's first choice is certain"


READ_FOR_GREEDY = (
    "Expected adds up each token's chance to be the target's first choice, fitted on other texts; "
    "measured is what these passes wrote."
)
"""How expected and measured belong together where confidences are read for greedy decoding."""


def greedy_gap(taus: Sequence[tuple[float, float]]) -> str:
    """Why measured tokens a pass are not the expected ones, for a place that shows pairs of (expected, measured).

    It holds where confidences speak of sampling and answers were decoded greedily; the sentence follows the numbers as shown.

    >>> greedy_gap([(2.10, 2.31)]).rpartition(": ")[2]
    'a likely guess is right more often than its confidence says, so more was accepted than expected.'
    """
    gaps = [round(measured, 2) - round(expected, 2) for expected, measured in taus]
    if all(gap > 0 for gap in gaps):
        return f"{GREEDY}: a likely guess is right more often than its confidence says, so more was accepted than expected."
    if all(gap < 0 for gap in gaps):
        return f"{GREEDY}. In these passes the drafter's guesses were that choice less often, so less was accepted than expected."
    return f"{GREEDY}, so measured and expected differ." if any(gaps) else ""


def tau(passes: Sequence[Pass]) -> tuple[float, float]:
    """Tokens a pass, expected and measured: 1 (bonus) + mean expected, mean written; raises ``ValueError`` without a pass."""
    if not passes:
        raise ValueError("passes: none given, at least one is needed")
    return 1 + float(np.mean([one.expected for one in passes])), float(np.mean([one.written for one in passes]))
