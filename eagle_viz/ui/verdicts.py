"""Why a recorded pass stopped where it did, in a sentence for each tree."""

from __future__ import annotations

from ..core.readout import guess_standing
from ..core.recording import Recording
from ..core.tree import NO_TOKEN, DraftTree
from ..stage.nodes import visible


def verdict_sentence(recording: Recording, number: int, tree: DraftTree) -> str:
    """What of this tree the target accepted in this cycle, what it wrote instead, and where that stood among the guesses."""
    cycle = recording.cycles[number]
    verdict = cycle.verdict(tree)
    count = len(verdict.accepted)
    words = visible(recording.words_after(number, count))
    taken = f"{count} of {tree.budget} drafted tokens accepted: “{words}”." if count else "Nothing accepted."
    if verdict.bonus == NO_TOKEN:
        return f"{taken} The recorded text ends there."
    last = verdict.accepted[-1] if verdict.accepted else 0
    standing = guess_standing(cycle.landscape, tree.paths[last], float(tree.values[last]), verdict.bonus)
    wrote = recording.texts.get(verdict.bonus, f"token {verdict.bonus}")
    return f"{taken} Then the target wrote “{visible(wrote)}”, {standing}."
