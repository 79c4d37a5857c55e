"""The page that documents the recording format: its script writes a file that opens, and its tables name what is in one."""

import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from eagle_viz import POLICIES
from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.recording import read, shipped

PAGE = (Path(__file__).parents[2] / "docs" / "recording-format.md").read_text()


@pytest.fixture
def written(tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text(re.search(r"```python\n(.*?)```", PAGE, re.S)[1])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))
    return tmp_path / "mine.npz"


def test_the_script_writes_a_recording_that_opens(written):
    """Its first cycle, drafted as a chain of three, expects 0.75 + 0.5625 + 0.421875 and is followed by the text."""
    found = read(written)
    draft = POLICIES["chain"]()(found.cycles[0].landscape, 3)
    assert draft.tree.expected_accepted == pytest.approx(0.75 + 0.75**2 + 0.75**3)
    assert found.answer == " one two three." and len(found.cycles[0].verdict(draft.tree).accepted) == 3


def test_every_array_and_header_field_is_on_the_page(written):
    """Nothing in a file is undocumented, and the script is short."""
    for path in (written, shipped()["oracle-fact"], next(path for name, path in shipped().items() if "eagle" in name)):
        with np.load(path, allow_pickle=False) as archive:
            fields = [*archive.files, *json.loads(archive["header"].tobytes())]
        assert [field for field in fields if f"`{field}`" not in PAGE] == []
    code = [line for line in re.search(r"```python\n(.*?)```", PAGE, re.S)[1].splitlines() if line.strip()]
    assert len(code) <= 26


@pytest.mark.parametrize("policy", sorted(name for name, policy in POLICIES.items() if not policy.needs_average))
def test_the_scripts_recording_answers_for_every_policy(written, policy):
    """No policy asks it for a node that it does not hold, at the page's budgets; the others want an average."""
    for cycle in read(written).cycles:
        for budget in (1, 25, 64):
            draft_up_to(POLICIES[policy](), cycle.landscape, budget)
