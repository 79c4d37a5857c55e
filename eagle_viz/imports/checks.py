"""What looks wrong in a run's acceptance numbers: one sentence a finding, with the number that triggered it."""

from __future__ import annotations

from collections.abc import Iterator

from .acceptance import Acceptance, Position

NEAR_ONE = 1.1
"""Below this tau a drafter is hardly ever right: look for a mistake before tuning."""
ROUNDING = 0.0051
"""Half of the second decimal: engines and people print a tau with two or more."""
MANY_FULL = 0.25
"""Share of passes that accepted a whole chain, from which on a longer chain is worth trying."""


def check(found: Acceptance) -> tuple[str, ...]:
    """The findings about one file, most serious first; empty where nothing is wrong."""
    return tuple(
        sentence
        for finder in (_above_one, _sums, _own_tau, _one_node, _near_one, _too_short, _steep_fall)
        for sentence in finder(found)
    )


def _above_one(found: Acceptance) -> Iterator[str]:
    if found.accepted is not None and found.drafted is not None and found.accepted > found.drafted:
        share = f"{found.accepted} accepted of {found.drafted} drafted tokens" + (
            f" is an acceptance of {found.accepted / found.drafted:.3g}, above 1" if found.drafted else ""
        )
        yield f"{share}: the file counts by another formula, perhaps with the bonus token among the accepted."
    for position in found.positions:
        if position.rate is not None and position.rate > 1:
            yield f"Acceptance at position {position.position} is {position.rate:.3g}, above 1: the file counts by another formula."


def _sums(found: Acceptance) -> Iterator[str]:
    if not found.counted or not found.reached:
        return
    if found.passes is not None and found.reached[0] != found.passes:
        yield f"The counts do not add up: {int(found.reached[0])} passes in the histogram, {found.passes} in all."
    by_position = int(sum(found.reached[1:]))
    if found.accepted is not None and by_position != found.accepted:
        yield f"The counts do not add up: {by_position} accepted tokens by position, {found.accepted} in all."


def _own_tau(found: Acceptance) -> Iterator[str]:
    if found.said_tau is None or found.tau is None:
        return
    if abs(found.said_tau - found.tau) > ROUNDING:
        yield f"The file says {found.said_tau:.3f} tokens a pass, its counts give {found.tau:.3f}: it counts by another formula."


def _one_node(found: Acceptance) -> Iterator[str]:
    if found.steps is not None and found.draft_slots is not None and 1 < found.steps and found.draft_slots - 1 < found.steps:
        drafted = found.draft_slots - 1
        nodes = f"{drafted} drafted node{'' if drafted == 1 else 's'}"
        yield (
            f"num_draft_tokens {found.draft_slots} with {found.steps} steps: the root is one of them, so only {nodes} can be "
            f"verified and {found.steps - drafted} of the draft steps wasted; allow at least {found.steps + 1}."
        )


def _near_one(found: Acceptance) -> Iterator[str]:
    if found.tau is not None and found.tau < NEAR_ONE:
        yield (
            f"tau is {found.tau:.3f}, hardly above 1. Check: the head belongs to this target (and its fine-tune), "
            "the chat template is the one it was trained on, hidden states come from the layers it expects, and the draft "
            "vocabulary's map is loaded."
        )


def _known(found: Acceptance) -> list[Position]:
    return [position for position in found.positions if position.low is not None and position.trials]


def _too_short(found: Acceptance) -> Iterator[str]:
    known = _known(found)
    if len(known) < 2 or len(known) != len(found.positions):
        return
    first, last = known[0], known[-1]
    full = found.reached[-1] / found.reached[0]
    if last.high >= first.low and full >= MANY_FULL:
        yield (
            f"The rates are flat ({first.rate:.2f} at position 1, {last.rate:.2f} at position {last.position}) and {full:.0%} of "
            f"the passes accept all {last.position}: this chain is too short, try a longer one."
        )


def _steep_fall(found: Acceptance) -> Iterator[str]:
    known = _known(found)
    worst = next((position for position in known[1:] if position.high < known[0].low), None)
    if worst is not None:
        first = known[0].rate
        yield (
            f"The rate falls from {first:.2f} at position 1 to {worst.rate:.2f} at position {worst.position}, given that all "
            "before it were accepted: steeper than the first step's rate explains. A head trained on one step only does this, "
            "and so do wrong positions or hidden states after the first step."
        )
