"""Putting a recording together from drafted contexts, whoever answered for the models. Numpy alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from eagle_viz.core.greedy import GreedyCalibration, read_for_greedy
from eagle_viz.core.landscape import AverageTable, RecordedLandscape
from eagle_viz.core.policies import Eagle1, Eagle2, Policy
from eagle_viz.core.recording import MAX_DEPTH, GreedyReading, LiveVerdict, RecordedCycle, Recording, average_confidences
from eagle_viz.core.tree import NO_TOKEN
from eagle_viz.engine.expansion import Expanded
from eagle_viz.engine.prompts import Prompt
from eagle_viz.engine.texts import TokenTexts, pieces

Contest = Mapping[str, tuple[Policy, int]]
"""The compared policies by a name of one's own, each with its budget (root not counted); the first one leads."""

TAIL = 16
"""Tokens read beyond the answer, so that a deep tree near its end still meets the target's own continuation."""

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Progress:
    """What a recorder is doing: `done` of `total` steps of `prompt`, for people to read."""

    prompt: str
    step: str
    done: int
    total: int


@dataclass(frozen=True)
class Text:
    """`tokens` of the prompt, the answer and a tail that only continuations use; the first two by their lengths."""

    tokens: tuple[int, ...]
    prompt_length: int
    answer_length: int

    @property
    def end(self) -> int:
        """Index behind the answer."""
        return self.prompt_length + self.answer_length

    @property
    def answer(self) -> tuple[int, ...]:
        """The answer's tokens."""
        return self.tokens[self.prompt_length : self.end]


@dataclass(frozen=True, eq=False)
class Context:
    """A root (its index among the text's tokens), what was drafted below it, and what became of the compared policies there."""

    position: int
    known: Expanded
    verdicts: tuple[LiveVerdict, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)


def standard_contest(budget: int = 25) -> Contest:
    """The comparison that recordings show: EAGLE-2 leads, EAGLE-1's shape is verified on the same contexts, at one budget."""
    return {"eagle2": (Eagle2(max_depth=MAX_DEPTH), budget), "eagle1": (Eagle1(), budget)}


def told(contest: Contest) -> dict[str, dict]:
    """The compared policies with their budgets and parameters, for a recording's header."""
    return {name: {"policy": policy.name, "budget": budget, **vars(policy)} for name, (policy, budget) in contest.items()}


def evenly(cycles: Sequence[Kept], count: int | None) -> list[Kept]:
    """At most `count` of these cycles, evenly spaced, the first and the last among them; all of them for None."""
    if count is None or count >= len(cycles):
        return list(cycles)
    return [cycles[round(i * (len(cycles) - 1) / max(1, count - 1))] for i in range(count)]


def assemble(
    prompt: Prompt,
    text: Text,
    target: str,
    drafter: str,
    contexts: Sequence[Context],
    tokenizer,
    made: Mapping[str, object],
    greedy: GreedyCalibration | None = None,
) -> Recording:
    """The recording of one answer, without what best_static needs (see `averaged`); `tokenizer` is the target's.

    `greedy`: what the drafter's confidences say of greedy decoding, where that is known.
    Raises ValueError where there is no context.
    """
    if not contexts:
        raise ValueError(
            f"prompt: the answer to {prompt.name!r} is over before its first verify pass, so there is nothing to record"
        )
    said = [verdict.bonus for context in contexts for verdict in context.verdicts if verdict.bonus != NO_TOKEN]
    texts = TokenTexts(tokenizer).of(
        [*text.tokens[text.prompt_length :], *said, *candidate_tokens([context.known for context in contexts])]
    )
    return Recording(
        name=f"{drafter}-{prompt.name}",
        title=prompt.title,
        kind=prompt.kind,
        prompt=prompt.text,
        target=target,
        drafter=drafter,
        tokens=text.tokens,
        prompt_length=text.prompt_length,
        answer_length=text.answer_length,
        pieces=pieces(tokenizer, text.answer),
        texts=texts,
        cycles=tuple(_recorded(context, text, texts) for context in contexts),
        greedy=None if greedy is None else GreedyReading(greedy),
        made=made,
    )


def _recorded(context: Context, text: Text, texts: Mapping[int, str]) -> RecordedCycle:
    position = context.position
    landscape = RecordedLandscape(context.known, text.tokens[position], texts)
    following, room = text.tokens[position + 1 :], text.end - 1 - position
    return RecordedCycle(position, landscape, following, context.verdicts, dict(context.seconds), room)


def average_of_others(one: Recording, made: Sequence[Recording], greedy: GreedyCalibration | None = None) -> AverageTable | None:
    """Average confidences over the other recordings made with this one, read for greedy decoding with a calibration.

    None where there are no others.
    """
    others = (other for other in made if other is not one)
    return average_confidences(read_for_greedy(cycle.landscape.candidates, greedy) for other in others for cycle in other.cycles)


def averaged(
    one: Recording, average: AverageTable, known: Sequence[Expanded], tokenizer, greedy: AverageTable | None = None
) -> Recording:
    """The recording with the others' average, and with what best_static expands by it added to each context in turn.

    `greedy`: the others' average in the greedy reading, where the recording knows that.
    """
    texts = {**one.texts, **TokenTexts(tokenizer).of(candidate_tokens(known))}
    cycles = tuple(
        replace(
            cycle,
            landscape=RecordedLandscape({**cycle.landscape.candidates, **found}, cycle.landscape.root_token, texts, average),
        )
        for cycle, found in zip(one.cycles, known, strict=True)
    )
    reading = None if one.greedy is None else replace(one.greedy, average=greedy)
    return replace(one, cycles=cycles, texts=texts, average=average, greedy=reading)


def candidate_tokens(known: Sequence[Expanded]) -> Iterator[int]:
    """Every candidate token of these contexts, one as often as it is a candidate."""
    return (int(token) for expanded in known for row in expanded.values() for token in row.tokens)
