"""Files that people open on the page: trees, a recording or a simulation of their own, or their engine's acceptance numbers."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import streamlit as st

from ..core import recording
from ..core.cost import speedup
from ..core.policies import FixedOrder, read_choices
from ..core.policies.fixed_order import EXAMPLE
from ..core.recording import Recording
from ..core.uploaded import Uploaded, read_upload
from ..imports import MAX_BYTES as MOST_NUMBERS
from ..imports import Acceptance, UnknownFormatError, check, difference, read_acceptance
from . import chrome, library, session
from .files import files, keep
from .opened_simulation import Simulation, read_simulation
from .page import Origin
from .settings import ALL_STEPS, PROPERTIES, Settings
from .times import cost_of

MAX_BYTES = MOST_NUMBERS
"""The largest file that the page takes; trees and recordings have limits of their own below it."""
_LEVELS = 40
"""Levels of a chain that fit into the page's address."""
_CHOICES = re.compile(rb"\s*(\w+\s*=\s*)?[\[(]\s*[\[(]")
"""How EAGLE's and Medusa's node lists begin."""
CHAIN = (
    "The stage shows a chain with these rates as confidences. Nothing is known of second choices, so no tree can be compared with "
    "it: the file tells only whether the first choice was accepted."
)


@dataclass(frozen=True)
class Numbers:
    """An engine's file as it was opened."""

    file: str
    found: Acceptance

    @property
    def levels(self) -> str:
        """The chain as the lab's levels; empty where the file has no acceptance by position, none at all, or rates above 1.

        >>> Numbers("a", Acceptance("example", "", reached=(4, 3, 2))).levels
        '0.75 / 0.6667 / 0'
        """
        rates = [position.rate or 0.0 for position in self.found.positions]
        if not any(rates[:1]) or max(rates) > 1:
            return ""
        rows = self.found.landscape.confidences
        return " / ".join(f"{rate:.4g}" for (rate,) in [*rows[:-1][:_LEVELS], rows[-1]])


def recognise(name: str, content: bytes) -> Uploaded | Recording | Numbers | FixedOrder | Simulation:
    """What a file is, told by its content; raises ``ValueError`` in one sentence for anything else.

    What a reader lets through ends here too: a hostile file may break a reader, never the page.
    """
    try:
        return _recognised(name, content)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError) as error:
        raise ValueError(
            f"file: {name[:80]!r} cannot be read ({type(error).__name__}); it is not what its format asks for"
        ) from error


def _recognised(name: str, content: bytes) -> Uploaded | Recording | Numbers | FixedOrder | Simulation:
    if content.startswith(b"PK"):
        return _recording(content)
    try:
        return Numbers(name, read_acceptance(content))
    except UnknownFormatError as error:
        unknown = str(error)
    if content.lstrip()[:1] == b"{" and b'"rows"' in content:
        return read_simulation(name, content)
    if content.lstrip()[:1] == b"{" and b'"nodes"' in content:
        return read_upload(content)
    if _CHOICES.match(content):
        return read_choices(content.decode(errors="replace"))
    others = f"trees from the stage's JSON button; a node list as in {EXAMPLE}; what simulate --json printed"
    raise ValueError(f"{unknown}; {others}; or a recording (.npz)")


def _recording(content: bytes) -> Recording:
    """A recording under a name of its own: two files of one name are two recordings, whoever opened them."""
    found = recording.read(content)
    digest = hashlib.sha256(content).hexdigest()[:8]
    return replace(found, name=f"{found.name[: PROPERTIES['recording'].length - 9]}-{digest}")


def show(name: str, content: bytes) -> None:
    """Keep what the file holds for this session and put it on the stage (callback); raises ``ValueError`` as ``recognise`` does."""
    found, now = recognise(name, content), session.current()
    start = {"preset": "", "step": ALL_STEPS, "mode": "nodes"}
    if isinstance(found, Recording):
        library.keep_live(found.for_greedy())
        budget = PROPERTIES["budget"].default
        start |= {"source": "recording", "recording": found.name, "position": 0, "budget": budget}
    elif isinstance(found, Numbers):
        keep(numbers=(*files().numbers[-1:], found))
        if not found.levels:
            return session.act({}, Origin.CONTENT)
        nodes = found.levels.count("/")
        depth = PROPERTIES["max_depth"].clamp(max(now.max_depth, nodes))
        start |= {"source": "levels", "levels": found.levels, "budget": nodes, "static": "chain", "max_depth": depth}
    elif isinstance(found, Simulation):
        keep(simulation=found)
        start = {"view": "speed"}
    elif isinstance(found, FixedOrder):
        source = "synthetic" if now.source == "file" else now.source
        start |= {"view": "lab", "source": source, "shape": _written(found), "budget": PROPERTIES["budget"].clamp(len(found.paths))}
    else:
        keep(trees=found)
        budget = min(max(len(found.static.paths), len(found.dynamic.paths), 1), int(PROPERTIES["budget"].high))
        start |= {"source": "file", "budget": budget}
    session.act(now.but(**start), Origin.CONTENT)


def _written(shape: FixedOrder) -> str:
    """The node list as the page's address holds it; raises ``ValueError`` where it is too long for one."""
    text, most = json.dumps([list(path) for path in shape.paths], separators=(",", ":")), PROPERTIES["shape"].length
    if len(text) > most:
        raise ValueError(f"choices: {len(shape.paths)} nodes given, {len(text)} characters; the page takes {most} at most")
    return text


def on_stage(settings: Settings) -> tuple[Numbers, ...]:
    """The engine's file whose chain is on the stage, or that has no chain to show, last, and the one opened before it, if any."""
    kept = files().numbers
    shown = kept and (not kept[-1].levels or (settings.source, settings.levels) == ("levels", kept[-1].levels))
    return kept if shown else ()


def panel(settings: Settings) -> None:
    """What the file on the stage says: tau, positions, speed by chain length, checks, and the difference to the file before it."""
    if not on_stage(settings):
        return
    *before, now = on_stage(settings)
    with st.container(key="card-engine", border=True):
        chrome.card_title("Your engine's numbers", f"{now.file}, {now.found.format}")
        st.html(f'<p class="claim" data-testid="engine-tau">{escape(_tau(now.found))}</p>')
        if now.levels:
            st.html(f"{_table(now.found)}<p>{CHAIN}</p>")
            with chrome.in_one_sentence():
                st.html(f'<p data-testid="engine-speed">{escape(_best_length(settings, now.found))}</p>')
        notes = [now.found.meaning, *now.found.remarks, *check(now.found)]
        if before:
            notes.append(f"Against {before[0].file}: {difference(before[0].found, now.found).sentence}")
        st.html(f'<ul data-testid="engine-notes">{"".join(f"<li>{escape(note)}</li>" for note in notes)}</ul>')


def _tau(found: Acceptance) -> str:
    tau = "tau is not known" if found.tau is None else f"tau {found.tau:.2f} tokens a pass, the bonus token counted"
    return f"Measured: {tau}, {'number of passes unknown' if found.passes is None else f'over {found.passes:,} passes'}."


def _table(found: Acceptance) -> str:
    rows = "".join(
        f"<tr><td>{one.position}</td><td>{'unknown' if one.rate is None else f'{one.rate:.3f}'}</td>"
        f"<td>{'unknown' if one.low is None else f'{one.low:.3f} to {one.high:.3f}'}</td></tr>"
        for one in found.positions
    )
    head = "<tr><th>Position</th><th>Accepted, given all before were</th><th>95 % interval</th></tr>"
    return f'<table data-testid="engine-positions">{head}{rows}</table>'


def _best_length(settings: Settings, found: Acceptance) -> str:
    """Which chain length is fastest with the pass times chosen under Budget & speed."""
    cost = cost_of(settings)
    rates = [rate for (rate,) in found.landscape.confidences[:-1]]
    lengths = np.arange(len(rates) + 1)
    speeds = speedup(cost, np.concatenate([[0.0], np.cumsum(np.cumprod(rates))]), lengths, lengths)
    best = int(np.argmax(speeds[1:])) + 1
    last = int(lengths[-1])
    all_of_them = f"{speeds[last]:.2f} times plain decoding with all {last} drafted"
    found_best = "the best of the measured lengths" if best == last else f"{speeds[best]:.2f} with {best}, the best of them"
    return (
        f"Expected speed with the pass times of {cost.title}: {all_of_them}, {found_best}. Choose pass times under Budget & speed."
    )
