"""A file as its readers want it: the text, and the JSON values in it (one document, one a line, or a server's event stream)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """``text`` decoded as UTF-8; ``values`` its JSON values, a list at the top taken apart, none where it is not JSON."""

    text: str
    values: tuple[object, ...]

    @classmethod
    def of(cls, content: bytes) -> Document:
        """Decode a file; raises ``ValueError`` where it is no text."""
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(
                "file: bytes that are no text given, allowed are JSON, JSON lines and text that an engine wrote"
            ) from None
        return cls(text, tuple(_values(text)))

    def objects(self) -> Iterator[Mapping]:
        """Every JSON object in the file, outer ones first."""
        waiting = list(self.values)[::-1]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                yield value
                waiting.extend(list(value.values())[::-1])
            elif isinstance(value, list):
                waiting.extend(value[::-1])

    def named(self, key: str) -> list[Mapping]:
        """Every JSON object that stands under this key anywhere in the file."""
        return [found[key] for found in self.objects() if isinstance(found.get(key), dict)]


def _values(text: str) -> Iterator[object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        yield from _lines(text)
        return
    yield from found if isinstance(found, list) else [found]


def _lines(text: str) -> Iterator[object]:
    for line in text.splitlines():
        line = line.removeprefix("data:").strip()
        if line.startswith(("{", "[")):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                continue  # a log may hold lines that only look like JSON


def whole(record: Mapping, *names: str) -> int | None:
    """The first of these fields that is there, a whole number from 0; None where none is, ``ValueError`` for anything else."""
    for name in names:
        value = record.get(name)
        if value is not None:
            return check_count(name, value)
    return None


def number(record: Mapping, name: str) -> float | None:
    """A field that is a number from 0, None where it is missing; ``ValueError`` for anything else."""
    value = record.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ValueError(f"{name}: {value!r:.40} given, allowed is a number from 0")
    return float(value)


def counts(record: Mapping, *names: str) -> list[int] | None:
    """The first of these fields that is there: a list of whole numbers from 0, or an object from "0", "1" ... to them."""
    for name in names:
        value = record.get(name)
        if value is not None:
            return [
                check_count(name, entry) for entry in (_dense(name, value) if isinstance(value, dict) else _listed(name, value))
            ]
    return None


MOST_ACCEPTED = 4096
"""A pass that accepts more drafted tokens than this is a broken file."""


def _dense(name: str, value: Mapping) -> list:
    try:
        keyed = {int(key): count for key, count in value.items()}
    except ValueError:
        raise ValueError(f"{name}: keys {list(value)[:3]} given, allowed are whole numbers from 0") from None
    if keyed and not 0 <= min(keyed) <= max(keyed) <= MOST_ACCEPTED:
        raise ValueError(f"{name}: keys up to {max(keyed)} given, allowed are 0 to {MOST_ACCEPTED}")
    return [keyed.get(index, 0) for index in range(max(keyed, default=-1) + 1)]


def _listed(name: str, value: object) -> list:
    if not isinstance(value, list) or len(value) > MOST_ACCEPTED + 1:
        raise ValueError(f"{name}: {value!r:.40} given, allowed is a list of at most {MOST_ACCEPTED + 1} whole numbers")
    return value


def check_count(name: str, value: object) -> int:
    """A whole number from 0 (Prometheus writes it as 12.0); raises ``ValueError`` naming the field."""
    ok = not isinstance(value, bool) and isinstance(value, (int, float)) and 0 <= value < 2**63 and value == int(value)
    if not ok:
        raise ValueError(f"{name}: {value!r:.40} given, allowed is a whole number from 0")
    return int(value)


def tokens_by_step(name: str, steps: list[int]) -> list[int]:
    """The histogram of a list with one accepted count a pass; raises ``ValueError`` for a count beyond all reason.

    >>> tokens_by_step("per_step_accepted", [0, 2, 2])
    [1, 0, 2]
    """
    if steps and max(steps) > MOST_ACCEPTED:
        raise ValueError(f"{name}: {max(steps)} given, allowed is at most {MOST_ACCEPTED}")
    return [steps.count(count) for count in range(max(steps, default=-1) + 1)]


def total(values: list[int | None]) -> int | None:
    """Their sum, None where one of them is unknown.

    >>> total([1, 2]), total([1, None])
    (3, None)
    """
    return None if not values or None in values else sum(values)
