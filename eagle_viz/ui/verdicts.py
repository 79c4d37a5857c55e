"""Why a recorded pass stopped where it did, in a sentence for each tree."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.readout import guess_standing
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
    last = verdict.accepted[-1] if verdict.accepted else 0
    standing = guess_standing(cycle.landscape, tree.paths[last], float(tree.values[last]), verdict.bonus)
    return f"{taken} Then the target wrote “{_word(verdict.bonus, texts)}”, {standing}."


def _word(token: int, texts: Mapping[int, str]) -> str:
    return visible(texts.get(token, f"token {token}"))
