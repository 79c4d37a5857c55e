"""The walls: imports go one way, and the core loads neither torch nor plotly nor streamlit."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from eagle_viz import POLICIES

PACKAGE = Path(__file__).parents[1] / "eagle_viz"
ALLOWED = {
    "core": set(),
    "imports": {"core"},
    "engine": {"core"},
    "training": {"core", "engine"},
    "view": {"core"},
    "stage": {"core", "view"},
    "ui": {"core", "imports", "engine", "view", "stage"},
}
OUTSIDE = {
    "torch": {"engine", "training"},
    "transformers": {"engine", "training"},
    "plotly": {"view", "ui"},
    "streamlit": {"ui", "stage"},
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def imports(module: Path):
    """Dotted names a module imports anywhere in its text, relative ones resolved."""
    package = ("eagle_viz", *module.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join((*base, *([node.module] if node.module else [])))
            yield from (f"{stem}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_imports_go_one_way(module):
    room = module.relative_to(PACKAGE).parts[0]
    if room not in ALLOWED:
        return  # the package's front door and the command line may reach into every room
    for name in imports(module):
        parts = name.split(".")
        if parts[0] == "eagle_viz" and len(parts) > 1 and parts[1] in ALLOWED:
            assert parts[1] == room or parts[1] in ALLOWED[room], f"{room} must not import {name}"
        assert room in OUTSIDE.get(parts[0], {room}), f"{room} must not import {name}"


@pytest.mark.parametrize("front", ["eagle_viz", "eagle_viz.core.readout", "eagle_viz.__main__"])
def test_the_front_door_is_light(front):
    heavy = "{'torch', 'transformers', 'streamlit', 'plotly'}"
    check = f"import {front}, sys; loaded = {heavy} & set(sys.modules); assert not loaded, loaded"
    subprocess.run([sys.executable, "-c", check], check=True, cwd=PACKAGE.parent)


LADDERS = ("presets.py", "figures.py")
"""Where a policy's name may be compared: rungs and stories are about certain policies."""


def test_what_a_policy_is_stands_in_its_class():
    """Nothing outside core/policies asks for a policy by comparing its name."""
    asked = []
    for path in MODULES:
        if path.parent.name == "policies" or path.name in LADDERS:
            continue
        compared = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Compare)]
        texts = {part.value for node in compared for part in ast.walk(node) if isinstance(part, ast.Constant)}
        asked += [f"{path.name}: {name}" for name in texts.intersection(POLICIES)]
    assert asked == []
