"""``forest``, ``distort`` and ``mixed`` print what the core computes, and name bad input."""

import json

import pytest

from eagle_viz import POLICIES, SyntheticLandscape
from eagle_viz.commands import main
from eagle_viz.core.distortion import Distortion, lie
from eagle_viz.core.forest import share
from eagle_viz.core.mixed import mixed


def printed(capsys, *arguments):
    """The JSON document of a command."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_forest_shares_one_budget_over_the_contexts(capsys):
    """Four synthetic contexts of two sharpnesses in two batches: sizes and gain are the core's."""
    found = printed(
        capsys, "forest", "--seeds", "4", "--sharpness", "0.5,3", "--requests", "2", "--budget", "5", "--max-depth", "4"
    )
    lands = [SyntheticLandscape(seed, (0.5, 3.0)[seed % 2]) for seed in range(4)]
    wanted = [share(lands[number::2], 5, 4) for number in (0, 1)]
    assert [one["sizes"] for one in found["batches"]] == [list(one.sizes) for one in wanted]
    tau = [sum(1 + getattr(one, name) / 2 for one in wanted) for name in ("expected", "equal")]
    assert found["gain"] == pytest.approx(tau[0] / tau[1] - 1)
    assert main(["forest", "--seeds", "4", "--requests", "2"]) == 0
    assert "2 batches of 2 requests" in capsys.readouterr().out


def test_distort_bends_the_confidences_and_says_what_is_lost(capsys):
    """The core's numbers for a temperature by depth with noise, of the policy asked for."""
    options = ["--seeds", "6", "--policy", "eagle2", "--top-k", "3", "--budget", "9", "--temperature", "2,0.5", "--noise", "0.4"]
    found = printed(capsys, "distort", *options)
    lands = [SyntheticLandscape(seed) for seed in range(6)]
    wanted = lie(lands, POLICIES["eagle2"](top_k=3), 9, Distortion((2.0, 0.5), 0.4))
    assert (found["promised"], found["lost"]) == (pytest.approx(wanted.promised), pytest.approx(wanted.lost))
    assert main(["distort", *options]) == 0 and "lost:" in capsys.readouterr().out


def test_mixed_prints_the_gain_by_spread(capsys):
    """Spreads in order, each once."""
    found = printed(capsys, "mixed", "--mean", "2", "--spread", "1,0,1", "--budget", "7")
    assert [row["spread"] for row in found["rows"]] == [0, 1]
    assert found["rows"][1]["gain"] == pytest.approx(mixed(2, 1, 7).gain)
    assert main(["mixed"]) == 0 and "gain" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments,said",
    [
        (["forest", "--requests", "0"], "requests: 0 given"),
        (["forest", "--seeds", "3", "--requests", "8"], "requests: 8 given, allowed are at most the 3 contexts"),
        (["forest", "--budget", "0"], "budget: 0 given"),
        (["distort", "--temperature", "warm"], "temperature: 'warm' given"),
        (["distort", "--shuffled", "2"], "shuffled: 2.0 given"),
        (["mixed", "--mean", "-1"], "mean: -1.0 given"),
        (["mixed", "--budget", "0"], "budget: 0 given"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, said):
    """Exit status 2 and the field's name."""
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and said in error and error.count("\n") == 1
