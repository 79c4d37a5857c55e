"""``bench landscapes`` prints what comparing seed by seed gives."""

import json

import numpy as np
import pytest

from eagle_viz import POLICIES, SyntheticLandscape, compare
from eagle_viz.commands import main


def test_the_population_equals_comparing_seed_by_seed(capsys):
    assert main("bench landscapes --sharpness 2.5,4 --seeds 20 --max-depth 9 --json".split()) == 0
    row = json.loads(capsys.readouterr().out)["rows"][1]
    pairs = [compare(SyntheticLandscape(seed, 4.0), 25, dynamic=POLICIES["eagle2"](max_depth=9)) for seed in range(20)]
    assert row["gain_over_eagle1"] == pytest.approx(np.mean([pair.gain for pair in pairs]))
    assert row["eagle2"] == pytest.approx(np.mean([pair.dynamic.tree.expected_accepted for pair in pairs]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--seeds 0", "seeds: 0 given"),
        ("--sharpness x", "sharpness: 'x' given"),
        ("--sharpness 99", "sharpness: 99"),
        ("--max-depth 0", "max_depth: 0 given"),
    ],
)
def test_bad_options_are_named(capsys, options, words):
    assert main(f"bench landscapes {options}".split()) == 2
    assert words in capsys.readouterr().err
