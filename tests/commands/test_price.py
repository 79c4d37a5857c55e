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
    assert document["drafter"] == "smollm2-135m-eagle3" and document["reading"] in ("sampling", "greedy")
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


def simulate_rows(capsys, *arguments):
    """The rows and the progress of one simulation."""
    assert main(["simulate", *map(str, arguments), "--json"]) == 0
    said = capsys.readouterr()
    return json.loads(said.out), said.err


def test_texts_of_another_engine_are_simulated_and_kept(capsys, folder, head, tmp_path):
    """Token ids and text give rows; what was kept is not drafted again, and a text that is added is."""
    texts = tmp_path / "texts.jsonl"
    lines = [
        {"prompt": [2, 9, 14, 3], "answer": [20, 21, 22, 23, 24, 25], "kind": "a"},
        {"prompt": "w9 w14", "answer": "w20 w21 w22", "kind": "b"},
    ]
    texts.write_text("\n".join(map(json.dumps, lines)))
    options = ["--texts", texts, "--target", folder, "--head", head, "--keep", tmp_path / "kept", "--kinds"]
    first, _ = simulate_rows(capsys, *options)
    assert set(first["rows"][0]["by_kind"]) == {"a", "b"} and first["contexts"] > 2
    kept = sorted((tmp_path / "kept").iterdir())
    before = [path.stat().st_mtime_ns for path in kept]
    again, told = simulate_rows(capsys, *options)
    assert again == first and "2 of 2 texts" in told and len(kept) == 2
    texts.write_text("\n".join(map(json.dumps, [*lines, lines[0] | {"kind": "c"}])))
    more, _ = simulate_rows(capsys, *options)
    assert set(more["rows"][0]["by_kind"]) == {"a", "b", "c"} and more["contexts"] > first["contexts"]
    assert [path.stat().st_mtime_ns for path in kept] == before and len(list((tmp_path / "kept").iterdir())) == 3


def test_prompts_are_answered_and_simulated_as_calibrate_measures_them(capsys, folder, head, tmp_path):
    """tau of EAGLE-2 at 25 nodes and of a chain equals ``calibrate --policies`` on the same prompts, number for number."""
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"text": "w5 w6"}\n{"text": "w7 w8 w9"}\n')
    model = ["--target", folder, "--head", head, "--max-new-tokens", 9]
    found, _ = simulate_rows(capsys, "--prompts", prompts, *model)
    row = {(one["policy"], one["budget"], one["max_depth"], one["top_k"], one["early_stop"]): one["tau"] for one in found["rows"]}
    calibrate = ["calibrate", "--prompts", prompts, *model, "--budget", 25, "--policies", "chain:3", "--json"]
    assert main(list(map(str, calibrate))) == 0
    report = json.loads(capsys.readouterr().out)
    tau = {one["name"]: one["tau"] for one in report["standings"]}
    assert found["contexts"] == report["contexts"]
    assert row["eagle2", 25, 6, 10, False] == pytest.approx(tau["eagle2:25"])
    assert row["chain", 3, None, None, None] == pytest.approx(tau["chain:3"])


@pytest.mark.parametrize(
    "line,said",
    [
        ("{", "texts: line 1 holds"),
        ('{"prompt": "w5", "answer": 7}', "texts: line 1 holds"),
        ('{"prompt": [2, 999], "answer": [3, 4]}', "texts: line 1 has prompt token 999, allowed is a whole number from 0 to 95"),
        ('{"prompt": [2], "answer": [3]}', "answer: 1 tokens given for line 1"),
        ("", "holds none"),
    ],
)
def test_a_line_that_is_no_text_is_one_sentence(capsys, folder, head, tmp_path, line, said):
    """Exit status 2, the line and what is allowed."""
    texts = tmp_path / "texts.jsonl"
    texts.write_text(line)
    assert main(["simulate", "--texts", str(texts), "--target", str(folder), "--head", str(head)]) == 2
    error = capsys.readouterr().err.splitlines()[-1]  # behind what transformers says of loading weights
    assert error.startswith("error: ") and said in error


@pytest.mark.parametrize("given", [["--keep", "x"], ["--limit", "2"], ["--dtype", "bfloat16"], ["--target", "t"]])
def test_what_recordings_do_not_depend_on_is_refused(short, capsys, given):
    """An option without effect is named instead of ignored."""
    assert main(["simulate", "--recordings", str(short[0]), *given]) == 2
    assert f"{given[0][2:]}: {given[1]} given beside --recordings" in capsys.readouterr().err


def test_times_come_from_a_file_a_benchmark_or_a_data_sheet(short, tmp_path, capsys):
    """The same milliseconds in either notation give the same advice; an estimate says that it is one."""
    simulation, times, rows = (tmp_path / name for name in ("simulation.json", "times.txt", "rows.jsonl"))
    assert main(["simulate", "--recordings", str(short[0]), "--json"]) == 0
    simulation.write_text(capsys.readouterr().out)
    times.write_text("1:10 16:11 draft:1\n")
    made = [(1, 0, 0, 10e-3), (1, 3, 16, 14e-3), (1, 5, 16, 16e-3)]
    names = ("batch_size", "steps", "num_draft_tokens", "step_time")
    rows.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True)) | {"acc_length": 2.0}) for row in made))
    said = []
    for options in (["--times", "1:10 16:11 draft:1"], ["--times-file", str(times)], ["--times-file", str(rows)]):
        assert main(["recommend", "--simulation", str(simulation), *options, "--json"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] == said[2]
    assert main(["recommend", "--simulation", str(simulation), "--accelerator", "h100", "--billions", "70"]) == 0
    told = capsys.readouterr()
    assert "estimated" in told.err and "data sheet" in told.err and "total_token=" in told.out
    assert main(["recommend", "--simulation", str(simulation), "--times", "1:10 2:11", "--billions", "70"]) == 2
    assert "billions: 70 given without --accelerator" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options,said",
    [
        (["--times", "1:10 64:"], "times: '1:10 64:' given, allowed is positions:milliseconds"),
        (["--times", "1:0 64:11"], "times: '1:0 64:11' given, allowed are 0.001 to"),
        (["--times", "2:10 64:11"], "sizes: (2, 64) given, allowed is 1 first, then rising"),
        (["--times", "1:10 64:5"], "times: 64:5 given after 10 ms"),
        (["--times", "1:10 64:nan"], "times: '1:10 64:nan' given, allowed are 0.001 to"),
        (["--times", "1:10"], "Give at least two sizes"),
        (["--times", "1:10 64:11", "--batch", "0"], "batch: 0 given, allowed is a whole number from 1 to 4096"),
    ],
)
def test_bad_times_and_batches_are_one_sentence(short, tmp_path, capsys, options, said):
    """Gaps, zero, falling and missing times, and batch 0: the field, the value and what is allowed."""
    file = tmp_path / "simulation.json"
    file.write_text(json.dumps({"version": 1, "rows": [{"policy": "chain", "budget": 3, "tau": 1.5, "passes": 3}]}))
    assert main(["recommend", "--simulation", str(file), *options]) == 2
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 1 and error[0].startswith("error: ") and said in error[0]


def test_a_simulation_of_another_version_is_named(tmp_path, capsys):
    """The version found and the one allowed."""
    file = tmp_path / "simulation.json"
    file.write_text(json.dumps({"version": 7, "rows": []}))
    assert main(["recommend", "--simulation", str(file), "--times", "1:10 64:11"]) == 2
    assert capsys.readouterr().err == "error: version: 7 given in the simulation, allowed is 1\n"
