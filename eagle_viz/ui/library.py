"""The recordings there are: this session's own, and the shipped ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from ..core import recording
from ..core.replay import READ_FOR_GREEDY, greedy_gap
from .files import files, keep


def keep_live(made: recording.Recording, instead_of: recording.Recording | None = None) -> None:
    """Keep a recording made in this session under its own name, in place of a shorter one of the same answer.

    Its confidences are to be read for the way its text was decoded (``Recording.for_greedy``).
    """
    others = {name: one for name, one in files().recordings.items() if one is not instead_of}
    keep(recordings=others | {made.name: made})


def recordings() -> list[str]:
    """Names of this session's own recordings, then of the shipped ones, those of a trained head first."""
    shipped = sorted(recording.shipped(), key=lambda name: (name.startswith("oracle"), name))
    return [*files().recordings, *shipped]


def read_recording(name: str) -> recording.Recording:
    """A recording by name, its confidences read for greedy decoding where the drafter knows how: recorded texts are greedy.

    Raises ``ValueError`` naming the recordings that there are.
    """
    return files().recordings.get(name) or _read_shipped(name)


@st.cache_resource(max_entries=32, show_spinner=False)
def _read_shipped(name: str) -> recording.Recording:
    shipped = recording.shipped()
    if name not in shipped:
        raise ValueError(f"recording: {name!r} given, allowed is one of {', '.join(shipped) or '(none is shipped yet)'}")
    return recording.read(shipped[name]).for_greedy()


def title(name: str) -> str:
    """A recording's name for people: what it is, its kind where that says more, and whether the target drafted for itself.

    The file's own name where it cannot be read.
    """
    try:
        found = read_recording(name)
    except ValueError:
        return name
    words = described(found)
    return f"{words} · upper bound" if found.drafter == "oracle" else words


def titles(names: Sequence[str]) -> dict[str, str]:
    """Names for people that tell these recordings apart: a second answer to the same prompt gets a number.

    Streamlit's selection boxes know an option by what they show of it.
    """
    told, seen = {}, Counter()
    for name in names:
        words = title(name)
        seen[words] += 1
        told[name] = words if seen[words] == 1 else f"{words} · {seen[words]}"
    return told


def described(found: recording.Recording) -> str:
    """Title and kind, the kind left out where the title says it: "A limerick · verse", "Python code"."""
    return found.title if found.kind.lower() in found.title.lower() else f"{found.title} · {found.kind}"


def drafted_by(found: recording.Recording) -> str:
    """Who drafted, in plain words."""
    return "the target as its own drafter (upper bound)" if found.drafter == "oracle" else found.drafter


UPPER_BOUND = "Upper bound: the target drafts for itself, perfectly calibrated. No drafter as cheap as a head is that good."


def is_oracle(name: str) -> bool:
    """Whether the target drafted for itself. Its first guess is then its own greedy token, so that greedy acceptance says nothing;
    what its trees are worth is what sampling at temperature 1 would accept, the expected number."""
    return read_recording(name).drafter == "oracle"


def by_drafter() -> list[tuple[str, tuple[str, ...]]]:
    """The recordings of each drafter that answer for every setting, the drafter named for people."""
    groups: dict[str, list[str]] = {}
    for name in recordings():
        found = read_recording(name)
        if found.whole:
            groups.setdefault(drafted_by(found), []).append(name)
    return [(drafter, tuple(names)) for drafter, names in groups.items()]


def same_drafter(name: str) -> tuple[str, ...]:
    """Names of all recordings made by the same drafter as this one; those that do not answer for every setting yet are left out."""
    drafter = read_recording(name).drafter
    alike = [other for other in recordings() if read_recording(other).drafter == drafter]
    return tuple(other for other in alike if other == name or read_recording(other).whole)


def gap_sentence(name: str, taus: Sequence[tuple[float, float]]) -> str:
    """How expected and measured tokens a pass of a greedy text belong together, beside pairs of (expected, measured)."""
    return READ_FOR_GREEDY if read_recording(name).read_for_greedy else greedy_gap(taus)
