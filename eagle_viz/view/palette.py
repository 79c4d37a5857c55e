"""The one palette and the one type scale: the stage, the page's style sheets, the charts and `.streamlit/config.toml` use these.

(The configuration is read by Streamlit alone and cannot import: a test holds it to this file.)
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Palette:
    """Colours of one theme: ``gray`` the static side, ``blue`` the dynamic one, ``quiet`` lesser text, ``faint`` marks without
    text, ``line`` rules and borders, ``wash`` panels; every text colour has a contrast of 4.5 or more on ``paper`` and on ``wash``.
    """

    paper: str
    ink: str
    quiet: str
    gray: str
    blue: str
    faint: str
    line: str
    wash: str


LIGHT = Palette("#ffffff", "#161b2c", "#5d667c", "#626b80", "#2563eb", "#8e97a8", "#e4e7ee", "#f5f7fb")
DARK = Palette("#10141f", "#e8ebf4", "#a3acbf", "#a7afc0", "#5b9bff", "#7b8496", "#2b3345", "#181f2e")

SIZES = {"small": 12, "text": 14, "body": 16, "large": 20, "huge": 36}
"""Pixels of the five sizes of text."""
LABEL = 10.5
"""Pixels of a number beside a node, at the trees' own scale."""
FONT = '"Source Sans", "Source Sans 3", sans-serif'


def colours(theme: Palette) -> str:
    """A theme as CSS: ``--ink: #161b2c; ...``."""
    return " ".join(f"--{field.name}: {getattr(theme, field.name)};" for field in fields(theme))


def colours_of_both() -> str:
    """Both themes as CSS, where ``color-scheme`` says which is on: ``--ink: light-dark(#161b2c, #e8ebf4); ...``."""
    pairs = {field.name: (getattr(LIGHT, field.name), getattr(DARK, field.name)) for field in fields(Palette)}
    return " ".join(f"--{name}: light-dark({light}, {dark});" for name, (light, dark) in pairs.items())


def sizes(scale: str = "1") -> str:
    """The type scale as CSS, times a CSS number: ``--small: calc(12px * 1); ...``."""
    return " ".join(f"--{name}: calc({size}px * {scale});" for name, size in SIZES.items())


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of a colour, 0 to 255 each.

    >>> channels("#2563eb")
    (37, 99, 235)
    """
    return tuple(int(colour[start : start + 2], 16) for start in (1, 3, 5))
