"""``simulate`` and ``recommend`` on the command line."""

import csv
import io
import json

import pytest

from eagle_viz.commands import main
from eagle_viz.core.curves import Setting
from eagle_viz.core.recording import read, shipped, write
from eagle_viz.core.simulation import simulate


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A recording of two contexts and its cycles."""
    whole = read(next(path for name, path in shipped().items() if name.startswith("smollm2")))
    short = type(whole)(**(vars(whole) | {"cycles": whole.cycles[:2]}))
    return write(short, tmp_path_factory.mktemp("price") / "short.npz"), [(short.kind, cycle) for cycle in short.cycles]


def test_what_is_simulated_is_printed_and_priced(short, tmp_path, capsys):
    """JSON, CSV and the library agree, and ``recommend`` reads what ``simulate`` printed."""
    path, contexts = short
    assert main(["simulate", "--recordings", str(path), "--json"]) == 0
    text = capsys.readouterr().out
    document = json.loads(text)
    expected = next(one for one in simulate(contexts) if one.setting == Setting("eagle2", 59, 6, 10, False))
    row = next(r for r in document["rows"] if (r["policy"], r["budget"], r["max_depth"], r["top_k"]) == ("eagle2", 59, 6, 10))
    assert document["contexts"] == 2 and document["version"] == 1 and row["tau"] == expected.tau
    assert main(["simulate", "--recordings", str(path), "--csv"]) == 0
    assert len(list(csv.DictReader(io.StringIO(capsys.readouterr().out)))) == len(document["rows"])
    file = tmp_path / "simulation.json"
    file.write_text(text)
    times = ["--times", "1:10 64:11 256:30 draft:0.6"]
    assert main(["recommend", "--simulation", str(file), *times, "--batch", "1", "8", "32", "--json"]) == 0
    batches = json.loads(capsys.readouterr().out)["batches"]
    assert [one["batch"] for one in batches] == [1, 8, 32]
    assert all(set(one["flags"]) == {"EAGLE", "SGLang", "vLLM", "TensorRT-LLM"} for one in batches)
    assert batches[0]["budget"] >= batches[-1]["budget"]
    assert main(["recommend", "--simulation", str(file), "--times", "1:10 64:10"]) == 0
    warned = capsys.readouterr().err
    assert all(part in warned for part in ("No draft: time is given", "extrapolated (flat)"))


def test_a_file_that_is_no_simulation_is_one_line(tmp_path, capsys):
    """Exit status 2 and one sentence."""
    file = tmp_path / "x.json"
    file.write_text("{")
    assert main(["recommend", "--simulation", str(file), "--times", "1:10 64:11"]) == 2
    assert capsys.readouterr().err.startswith("error: simulation: ")
