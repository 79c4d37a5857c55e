"""Every setting of the page in one table: its name in the URL, its type, what it may be, and what it is at first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass, replace

from ..core.cost import TIMES
from ..core.policies import POLICIES, Parameter, every_parameter
from ..core.roofline import ACCELERATORS
from ..stage.player import MODES

SOURCES = {"synthetic": "Synthetic", "levels": "By hand", "recording": "Real text", "file": "File"}
VIEWS = {
    "lab": "Lab",
    "text": "Real text",
    "confidence": "Confidence = acceptance",
    "speed": "Budget & speed",
    "pass": "Verify pass",
}
RECORDED_VIEWS = ("text", "pass", "confidence", "speed")
USUAL_BUDGET = 128
"""Budgets up to here are computed ahead; larger ones, on landscapes that are not recorded, when asked for."""
RECORDED_CHAIN = 64
"""Levels that a recording holds of the chain."""
ALL_STEPS = -1
"""``step`` of a whole tree: as many nodes kept as the budget allows."""

MISCONCEPTION = "0.9 0.05 0.03 0.02 / 0.8 0.1 0.06 0.04 / 0.7639 0.12 0.07 0.04 / 0.7273 0.14 0.08 0.05"


@dataclass(frozen=True)
class Property:
    """One setting: ``kind`` is ``int``, ``float`` or ``str``; numbers have a range, texts may have choices or a greatest length."""

    name: str
    kind: type
    default: int | float | str
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()
    length: int = 120

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        if self.kind is str:
            return f"one of {', '.join(self.choices)}" if self.choices else f"a text of at most {self.length} characters"
        return f"{'a whole number' if self.kind is int else 'a number'} from {self.low:g} to {self.high:.10g}"

    def clamp(self, given: object) -> int | float | str:
        """The nearest allowed value; raises ``ValueError`` where nothing is near (text for a number, an unknown choice).

        >>> PROPERTIES["sharpness"].clamp("99")
        4
        """
        if self.kind is str:
            return self._clamp_text(str(given))
        number = float(given)
        if math.isnan(number) or not str(given).isascii():
            raise ValueError(f"{self.name}: not a number")
        number = min(max(number, self.low), self.high)
        return round(number) if self.kind is int else round(number, 4)

    def _clamp_text(self, given: str) -> str:
        if self.choices and given not in self.choices:
            raise ValueError(f"{self.name}: unknown choice")
        return given[: self.length]


def _table(*rows: Property) -> dict[str, Property]:
    return {row.name: row for row in rows}


def offered_parameters() -> dict[str, Parameter]:
    """The parameters of policies that the page offers, by name."""
    return {name: entry for name, entry in every_parameter().items() if entry.start is not None}


PROPERTIES: dict[str, Property] = _table(
    Property("view", str, "lab", choices=tuple(VIEWS)),
    Property("preset", str, "", length=24),
    Property("source", str, "synthetic", choices=tuple(SOURCES)),
    Property("seed", int, 61, 0, 2**32 - 1),
    Property("sharpness", float, 2.5, 0.1, 4),
    Property("branching", int, 4, 2, 10),
    Property("coverage", float, 1.0, 0.05, 1),
    Property("levels", str, MISCONCEPTION, length=400),
    Property("recording", str, "", length=64),
    Property("position", int, 0, 0, 100_000),
    Property("budget", int, 25, 1, 512),
    Property("step", int, ALL_STEPS, ALL_STEPS, 512),
    Property("mode", str, "nodes", choices=MODES),
    Property("static", str, "eagle1", choices=tuple(POLICIES)),
    Property("dynamic", str, "eagle2", choices=tuple(POLICIES)),
    *(Property(name, entry.kind, entry.start, entry.low, entry.high) for name, entry in offered_parameters().items()),
    Property("shape", str, "", length=1500),
    Property("cost", str, "cpu-bfloat16", choices=(*TIMES, *ACCELERATORS)),
    Property("times", str, "", length=600),
    Property("billions", float, 8.0, 0.1, 1000),
    Property("batch", int, 1, 1, 256),
    Property("tour", int, 0, 0, 8),
    Property("hide", str, "", length=60),
)


class _Checked:
    """What settings do, apart from holding a value for each row of ``PROPERTIES``."""

    def __post_init__(self) -> None:
        for row in PROPERTIES.values():
            value = getattr(self, row.name)
            if row.clamp(value) != value:
                raise ValueError(f"{row.name}: {value!r} given, allowed is {row.allowed}")

    def but(self, **changes: object) -> Settings:
        """These settings with changes; raises ``ValueError`` outside a range."""
        return replace(self, **changes)

    def hides(self, part: str) -> bool:
        """Whether a part of the page is switched off by ``hide=header,settings,...``."""
        return part in self.hide.split(",")


Settings = make_dataclass(
    "Settings",
    [(row.name, row.kind, row.default) for row in PROPERTIES.values()],
    bases=(_Checked,),
    frozen=True,
    namespace={
        "__module__": __name__,
        "__doc__": "One value for each row of ``PROPERTIES``, inside its range. Equal settings give the same picture everywhere.",
    },
)


def effective_settings(settings: Settings) -> Settings:
    """The settings in force: views about recorded text read the recording, whatever the lab's own source is."""
    return settings.but(source="recording") if settings.view in RECORDED_VIEWS else settings


def base_of(preset: str, presets: Mapping[str, Mapping[str, object]]) -> Settings:
    """The settings a preset starts from; every other parameter of the URL is a change against these."""
    return Settings(preset=preset, **presets[preset]) if preset in presets else Settings()


def parse(query: Mapping[str, str], presets: Mapping[str, Mapping[str, object]] | None = None) -> tuple[Settings, list[str]]:
    """Settings from a URL's parameters, and a sentence for each value that could not be taken as it stood.

    Never raises: a number outside its range becomes the nearest allowed one, anything else its default.

    >>> parse({"sharpness": "99"})[1]
    ["sharpness: '99' given, allowed is a number from 0.1 to 4; 4 is used."]
    """
    presets = presets or {}
    base = base_of(query.get("preset", ""), presets)
    changes: dict[str, object] = {}
    notes: list[str] = []
    for name, given in query.items():
        if name == "preset":
            notes += [] if given in presets or not given else [_note(name, given, f"one of {', '.join(presets)}", "none")]
        elif name not in PROPERTIES:
            notes.append(f"{quote(name)} is not a setting of this page; it is left out.")
        else:
            changes[name], note = _take(PROPERTIES[name], given, getattr(base, name))
            notes += note
    found = base.but(**changes)
    if found.step > found.budget:
        notes = [note for note in notes if not note.startswith("step:")]
        notes.append(_note("step", str(found.step), f"up to the budget, {found.budget}", found.budget))
        found = found.but(step=ALL_STEPS)
    return found, notes


def _take(row: Property, given: str, fallback: object) -> tuple[object, list[str]]:
    try:
        value = row.clamp(given)
    except (ValueError, OverflowError):
        return fallback, [_note(row.name, given, row.allowed, fallback)]
    same = value == given if row.kind is str else value == float(given)
    return value, [] if same else [_note(row.name, given, row.allowed, value)]


def _note(name: str, given: str, allowed: str, used: object) -> str:
    used = f"{used:g}" if isinstance(used, float) else quote(used)[1:-1] if isinstance(used, str) else used
    return f"{name}: {quote(given)} given, allowed is {allowed}; {used if used != '' else 'none'} is used."


def quote(given: str, length: int = 40) -> str:
    """A stranger's text as one short quoted line."""
    return repr(given if len(given) <= length else given[: length - 1] + "…")


def to_query(settings: Settings, presets: Mapping[str, Mapping[str, object]] | None = None) -> dict[str, str]:
    """The URL parameters of these settings: what differs from the preset's (or the page's) start; ``parse`` gives them back."""
    base = base_of(settings.preset, presets or {})
    query = {"preset": settings.preset} if settings.preset else {}
    for name, row in PROPERTIES.items():
        value = getattr(settings, name)
        if name != "preset" and value != getattr(base, name):
            query[name] = f"{value:.10g}" if row.kind is float else str(value)
    return query
