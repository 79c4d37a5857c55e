"""A policy of one's own: its class and a line in the registry put it on the page and the command line, with the right numbers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEPT = [0.6, 0.6 * 0.6, 0.3, 0.6**3]
"""Worth more than 0.2 where every node's children have 0.6 and 0.3; the passes expand the root, two nodes, one and one."""


def test_a_new_policy_needs_its_class_and_a_line_in_the_registry():
    """Options, settings, trees, sentences and passes of a policy that no module of the package names."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("own_policy.py")), str(ROOT / "app.py")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    printed, page = map(json.loads, done.stdout.splitlines())
    assert (printed["policy"], printed["budget"], printed["passes"]) == ("worth_more", 4, 4)
    assert printed["expected_accepted"] == page["expected"] == pytest.approx(sum(KEPT))
    assert (
        page["exceptions"] == 0
        and page["notice"] == "Worth more found only 4 of {budget} nodes at these settings; lower the floor."
    )
    assert page["notice"].replace("{budget}", "9") in done.stderr
    assert sum("Worth more" in options for options in page["drafters"]) == 2
    assert "floor: least value kept" in page["sliders"] and (page["title"], page["keeping"]) == ("Worth more", "Rerank")
    assert page["passes"] == pytest.approx([page["alone"]] * len(page["passes"]))
