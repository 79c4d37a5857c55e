"""What the two trees do on real text, in one line each: counted on the shipped recordings, never written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..core import recording
from ..core.recording import Recording
from ..core.reliability import wilson
from . import library, replays
from .settings import Settings
from .world import PolicyKey, sides

WORDS_SHOWN = 3
"""Words of the text before the root that a line quotes."""


@dataclass(frozen=True)
class Example:
    """One recorded pass: the end of the text ``before`` it, and what each of the page's first two policies got accepted there."""

    recording: str
    position: int
    before: str
    kept: tuple[str, str]
    counts: tuple[int, int]

    @property
    def line(self) -> str:
        """One line of real text: what each tree got accepted after the same words."""
        first, second = (side.title for side in _pair())
        few, more = (_quoted(text, count) for text, count in zip(self.kept, self.counts, strict=True))
        return f"Real text: after “…{self.before}” {first} gets {few} accepted, {second} {more}."

    @property
    def changes(self) -> dict[str, object]:
        """The settings that put this pass on the stage."""
        return {"view": "text", "source": "recording", "recording": self.recording, "position": self.position}


def _pair() -> tuple[PolicyKey, PolicyKey]:
    return sides(Settings())


def _quoted(text: str, count: int) -> str:
    return f"“{text}” ({count} token{'s' * (count != 1)})" if count else "nothing"


def texts() -> tuple[str, ...]:
    """The shipped recordings that a trained head drafted (the upper bound is no drafter that one could run)."""
    return tuple(name for name in recording.shipped() if not name.startswith("oracle"))


def _readable(name: str) -> bool:
    """Whether a file is a recording: one that is not is told where it is opened, and is no example here."""
    try:
        library.read_recording(name)
    except ValueError:
        return False
    return True


def counts(name: str) -> list[tuple[int, int]]:
    """Drafted tokens accepted in each pass of a text by the page's first two policies, with its first settings."""
    budget = Settings().budget
    found = [replays.passes(name, key, budget) for key in _pair()]
    return [(one.accepted, other.accepted) for one, other in zip(*found, strict=True)]


def example(name: str) -> Example | None:
    """The pass of a text in which the dynamic tree gets most ahead, with letters in what it keeps; None where it never is ahead."""
    found = library.read_recording(name)
    ahead = [
        (more - few, -position)
        for position, (few, more) in enumerate(counts(name))
        if more > few and any(sign.isalpha() for sign in _accepted(found, position, more))
    ]
    if not ahead:
        return None
    position = -max(ahead)[1]
    pair = counts(name)[position]
    before = " ".join((found.words_before(position) + found.root_text(position)).split()[-WORDS_SHOWN:])
    return Example(name, position, before, tuple(_accepted(found, position, count) for count in pair), pair)


def _accepted(found: Recording, position: int, count: int) -> str:
    words = [found.texts.get(token, "") for token in found.cycles[position].continuation[:count]]
    return " ".join("".join(words).split())


def first_example() -> Example | None:
    """The example of the first text that has one."""
    return next((found for name in texts() if _readable(name) and (found := example(name)) is not None), None)


def clearest_example() -> Mapping[str, object]:
    """The settings of an example in the text on which the dynamic tree gets most tokens ahead; empty where there is none."""
    names = [name for name in texts() if _readable(name) and example(name) is not None]
    if not names:
        return {}
    return example(max(names, key=lambda name: sum(more - few for few, more in counts(name)))).changes


def how_often() -> str:
    """In how many recorded passes the dynamic tree gets more accepted (95 % interval) and in how many fewer; may be empty."""
    names = [name for name in texts() if _readable(name)]
    pairs = [pair for name in names for pair in counts(name)]
    if not pairs:
        return ""
    more, fewer = sum(b > a for a, b in pairs), sum(b < a for a, b in pairs)
    low, high = wilson(more, len(pairs))
    first, second = (side.title for side in _pair())
    return (
        f"Over the {len(names)} recorded texts {second} gets more tokens accepted than {first} in {more} of {len(pairs)} passes "
        f"({100 * more / len(pairs):.0f} %; 95 % interval {100 * low:.0f} to {100 * high:.0f} %), fewer in {fewer}, and as many in "
        f"{len(pairs) - more - fewer}."
    )
