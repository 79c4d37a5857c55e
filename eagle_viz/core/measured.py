"""What was measured on many live contexts and ships as a small table: tau by policy and kind of text, promise and outcome.

A table is what ``calibrate --policies ... --json`` prints. Twenty contexts of one text decide nothing; thousands of them do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from .calibration import Lead, Means, Standing
from .documents import VERSION
from .places import models
from .reliability import Bin, Reliability

FILE = models() / "measured.json"
DRAFTERS = models() / "drafters"
"""A table each of the drafters that are compared, a file each."""


class MeasuredError(ValueError):
    """A file is not a table that this version reads; the message says what is wrong with it."""


@dataclass(frozen=True)
class Measured:
    """One live run: ``prompts`` of the file ``source``, answers of at most ``max_new_tokens``, ``contexts`` passes in all.

    ``standings`` of every policy on the same contexts, the one that the texts followed first; ``reliability`` of that one's drafted
    nodes against the target's probabilities (sampling), ``greedy`` against what was accepted, where the drafter knows that reading.
    ``top``: mean confidence of the root's first candidate.
    """

    drafter: str
    source: str
    prompts: int
    max_new_tokens: int
    dtype: str
    reading: str
    contexts: int
    top: float
    standings: tuple[Standing, ...]
    reliability: Reliability
    greedy: Reliability | None

    def standing(self, name: str) -> Standing:
        """The standing of a policy by its name in the table, as in ``eagle1:25``; raises ``MeasuredError`` where it has none."""
        found = next((one for one in self.standings if one.name == name), None)
        if found is None:
            raise MeasuredError(f"policy: {name!r} given, the table has {', '.join(one.name for one in self.standings)}")
        return found


def read_measured(path: Path = FILE) -> Measured:
    """Read a table; raises ``MeasuredError`` in one sentence where it cannot be used.

    Law: the inverse of what ``calibrate --json`` prints.
    """
    try:
        found = json.loads(path.read_text())
        if found["version"] != VERSION:
            raise MeasuredError(f"measured: {path.name} has version {found['version']!r}, this program reads version {VERSION}")
        return _measured(found)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        if isinstance(error, MeasuredError):
            raise
        reason = " ".join(str(error).split())[:120]
        raise MeasuredError(f"measured: {path.name} is not what `calibrate --policies ... --json` prints ({reason})") from error


def _measured(found: Mapping) -> Measured:
    run = found["run"]
    return Measured(
        drafter=str(found["drafter"]),
        source=str(run["prompts"]),
        prompts=int(run["count"]),
        max_new_tokens=int(run["max_new_tokens"]),
        dtype=str(run["dtype"]),
        reading=str(found["reading"]),
        contexts=int(found["contexts"]),
        top=float(found["top"]),
        standings=tuple(map(_standing, found["standings"])),
        reliability=_reliability(found["reliability"]),
        greedy=None if found["greedy"] is None else _reliability(found["greedy"]),
    )


def _standing(entry: Mapping) -> Standing:
    numbers = [field.name for field in fields(Means)]
    return Standing(
        str(entry["name"]),
        str(entry["title"]),
        int(entry["budget"]),
        Means(**{name: entry[name] for name in numbers}),
        {str(kind): Means(**means) for kind, means in entry["by_kind"].items()},
        {str(other): Lead(**lead) for other, lead in entry["over"].items()},
    )


def _reliability(entry: Mapping) -> Reliability:
    return Reliability(tuple(Bin(**one) for one in entry["bins"]), entry["ece"], entry["ece_accepted"], entry["count"])
