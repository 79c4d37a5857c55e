"""The stage's JavaScript, style and player page, read from the package and joined: no build step, nothing from a network."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

_HERE = files(__package__)


@cache
def style() -> str:
    """The stage's CSS."""
    return (_HERE / "stage.css").read_text(encoding="utf-8")


@cache
def player_template() -> str:
    """The offline page, with ``%%NAME%%`` where its parts go."""
    return (_HERE / "player.html").read_text(encoding="utf-8")


@cache
def source() -> str:
    """One ES module: the files of ``js/`` in the order of their numbers, with the style and the player page as constants."""
    parts = sorted((_HERE / "js").iterdir(), key=lambda part: part.name)
    constants = {"STYLE": style(), "PLAYER": player_template()}
    head = [f"const {name} = {inert_json(text)};" for name, text in constants.items()]
    return "\n".join([*head, *(part.read_text(encoding="utf-8") for part in parts if part.name.endswith(".js"))])


def inert_json(value: object) -> str:
    """JSON that can stand inside a script element: no ``<`` is left in it."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
