"""Why a recorded pass stopped where it did, in a sentence for each tree."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.landscape import NotRecordedError
from ..core.readout import amount
from ..core.recording import RecordedCycle
from ..core.tree import NO_TOKEN, DraftTree
from ..stage.trace import visible


def verdict_sentence(cycle: RecordedCycle, tree: DraftTree, texts: Mapping[int, str]) -> str:
    """What of this tree the target accepted, what it wrote instead, and where that stood among the drafter's guesses."""
    verdict = cycle.verdict(tree)
    words = "".join(_word(int(tree.tokens[node]), texts) for node in verdict.accepted)
    count = len(verdict.accepted)
    taken = f"{count} of {tree.budget} drafted tokens accepted: “{words}”." if count else "Nothing accepted."
    if verdict.bonus == NO_TOKEN:
        return f"{taken} The recorded text ends there."
    return f"{taken} Then the target wrote “{_word(verdict.bonus, texts)}”, {_standing(cycle, tree, verdict)}."


def _standing(cycle: RecordedCycle, tree: DraftTree, verdict) -> str:
    """Where the target's own token stood among the guesses below the last accepted node."""
    node = verdict.accepted[-1] if verdict.accepted else 0
    try:
        guesses = cycle.landscape.expand([tree.paths[node]])[0]
    except NotRecordedError:
        return "below a leaf, where the drafter was not asked"
    ranks = (guesses.tokens == verdict.bonus).nonzero()[0]
    if not len(ranks):
        return f"not among the drafter's {len(guesses)} guesses"
    confidence = float(guesses.confidences[ranks[0]])
    worth = amount(float(tree.values[node]) * confidence)
    return f"guess number {ranks[0] + 1} with confidence {amount(confidence)}: worth {worth}, which this tree did not keep"


def _word(token: int, texts: Mapping[int, str]) -> str:
    return visible(texts.get(token, f"token {token}"))
