"""One plain wording everywhere: sentences that were replaced are not left in the package, its scripts or its pages."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SUFFIXES = {".py", ".js", ".css", ".md", ".html"}
REPLACED = (
    r"(Static|Dynamic|\d) ?,? accepted / pass",
    r"Every node costs one more position",
    r"spends the budget on one fixed shape",
    r"the largest products\.",
    r"the best of \S+ candidates left",
    r"Next in line: ",
    r"misses the budget",
    r"next in the fixed shape",
    r"static nodes? misspent",
    r"misspent: worth less",
    r"Some path accepted to its end",
    r"clean sweep",
    r"absent there",
    r"shared, \d+ only here",
    r"shared · ",
    r"with its confidence, or none",
    r"same answer of the target",
    r"nothing to choose, these paths",
    r"is what (<em>)?looking(</em>)? buys",
    r"width of EAGLE-2's frontier",
    r"the candidates hold together",
    r"The texts are greedy",
    r"promised by the drafter",
    r"never expect fewer",
    r"pays at no budget",
    r"A GPU waiting for memory",
    r"of your own hardware too",
    r"Whoever maximises the sweep",
    r"levels separated by /",
    r"allowed is as many, two or more",
    r"version: \S+ given, allowed is",
    r"stops at \S+ nodes: ",
    r"no draft pass that cannot change",
    r"in three tongues",
    r"Another word after each change",
)


def texts():
    """Every source text that readers or users see; this list of phrases is the one exception."""
    tops = [ROOT / name for name in ("eagle_viz", "tests", "docs", "models", "app.py", "README.md")]
    files = [path for top in tops for path in (top.rglob("*") if top.is_dir() else [top])]
    return {path: " ".join(path.read_text("utf-8").split()) for path in files if path.suffix in SUFFIXES and path != Path(__file__)}


@pytest.mark.parametrize("phrase", REPLACED)
def test_no_replaced_wording_is_left(phrase):
    """A sentence that got a plainer one stands nowhere any more, not even cut by a line break."""
    pattern = re.compile(phrase.replace(" ", r'(?: |" f?"|" \+ ")'), re.IGNORECASE)
    left = [str(path.relative_to(ROOT)) for path, text in texts().items() if pattern.search(text)]
    assert left == []
