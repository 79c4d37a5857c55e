"""The stage's JavaScript, style and player page, read from the package and joined: no build step, nothing from a network."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

from ..view import palette

_HERE = files(__package__)
_IMPORTS = re.compile(r"^import [^;]*;$", re.MULTILINE)


@cache
def style() -> str:
    """The stage's CSS, the palette and the type scale before it; ``--scale`` grows its words with the screen."""
    own = f"--scale: 1; --label: {palette.LABEL}px; --tick: {palette.SIZES['small']}px; {palette.sizes('var(--scale)')}"
    rules = [
        f".stage {{ {palette.colours(palette.LIGHT)} {own} }}",
        f'.stage[data-theme="dark"] {{ {palette.colours(palette.DARK)} }}',
    ]
    return "\n".join([*rules, (_HERE / "stage.css").read_text(encoding="utf-8")])


@cache
def player_template() -> str:
    """The offline page in the palette's colours, with ``%%NAME%%`` where its parts go."""
    page = (_HERE / "player.html").read_text(encoding="utf-8")
    return page.replace("%%PALETTE%%", palette.colours_of_both())


@cache
def source() -> str:
    """One ES module: the files of ``js/`` in the order of their numbers, and the player page as a constant.

    Each file imports only from files before it, so that joined they need neither imports nor exports. Comments and indentation
    stay behind too: Streamlit sends the module along with every new trace.
    """
    parts = sorted((part for part in (_HERE / "js").iterdir() if part.name.endswith(".js")), key=lambda part: part.name)
    lines = (line.strip() for part in parts for line in _IMPORTS.sub("", part.read_text(encoding="utf-8")).splitlines())
    code = (line.removeprefix("export ") if not line.startswith("export default") else line for line in lines)
    return "\n".join([f"const PLAYER = {inert_json(player_template())};", *(line for line in code if line and line[:2] != "//")])


def inert_json(value: object) -> str:
    """JSON that can stand inside a script element: no ``<`` is left in it."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
