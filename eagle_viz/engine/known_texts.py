"""Texts whose greedy answer is known already: read once by the target, drafted below every root that decoding would stop at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eagle_viz.core.greedy import in_reading
from eagle_viz.core.policies import Eagle2
from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.recording import MAX_DEPTH, RecordedCycle
from eagle_viz.engine.drafted import Drafter
from eagle_viz.engine.expansion import BEAMS, expand_beams
from eagle_viz.engine.generation import calibration_for
from eagle_viz.engine.reader import Reader
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target

LEADER, LEADER_BUDGET = Eagle2(), 25
"""Whose passes decide where the next one starts, as in the shipped recordings: EAGLE-2 with 25 nodes."""


@dataclass(frozen=True)
class KnownText:
    """A prompt and the target's greedy answer to it as token ids, with the kind of text and a name for messages.

    Raises ValueError where the prompt is empty or the answer has fewer than two tokens: its first comes from the prompt's own pass.
    """

    name: str
    kind: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...]

    def __post_init__(self):
        if not self.prompt:
            raise ValueError(f"prompt: none given for {self.name}, allowed is one token or more")
        if len(self.answer) < 2:
            raise ValueError(f"answer: {len(self.answer)} tokens given for {self.name}, allowed are two or more")


EVERY_BEAM = tuple(beam for beam in BEAMS if beam.expand_by == "value")
"""What a simulation of every EAGLE-2 asks for below each root."""


def contexts_along(
    target: Target, drafter: Drafter, text: KnownText, reading: str | None = None, ahead: Sequence[Eagle2] = EVERY_BEAM
) -> Iterator[RecordedCycle]:
    """The cycles of the leader along the answer, each with its landscape open while it is looked at; it is closed at the next one.

    `reading` as in `sampling.Settings`; `ahead` is drafted side by side before a cycle is handed out. Nothing is verified: greedy
    acceptance is the longest path along the text. Law: the same roots as a greedy generation by the leader whose answer this is.
    """
    calibration = calibration_for(drafter, Settings(len(text.answer), reading=reading))
    reader = Reader(target, drafter, text.prompt, len(text.answer), MAX_DEPTH)
    reader.start(text.answer[0])
    place = 0
    while (room := len(text.answer) - 1 - place) > 0:
        landscape = reader.landscape()
        read = in_reading(landscape, calibration)
        if ahead:
            expand_beams(read, ahead)
        cycle = RecordedCycle(len(text.prompt) + place, read, text.answer[place + 1 :], room=room)
        yield cycle
        tree = draft_up_to(LEADER, read, LEADER_BUDGET)[0].tree
        landscape.close()
        wrote = cycle.written(cycle.verdict(tree).accept_length)
        reader.extend(text.answer[place + 1 : place + 1 + wrote])
        place += wrote
