"""`calibrate`: reliability, promise and outcome, on recordings and live; bad options in one line."""

import json
import shutil

import pytest

from eagle_viz.commands import main
from eagle_viz.commands.prompts import read_prompts
from eagle_viz.core.policies import EAGLE1_PATHS


def test_calibrate_live_finds_the_oracle_perfectly_calibrated(capsys, folder):
    options = f"--target {folder} --drafter oracle --limit 2 --max-new-tokens 6 --budget 8 --json"
    assert main(["calibrate", *options.split()]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["reliability"]["ece"] < 1e-6 and report["contexts"] > 0


def test_calibrate_sets_policies_against_one_another_on_the_same_contexts(capsys, folder, head):
    base = f"--target {folder} --head {head} --limit 2 --max-new-tokens 8 --budget 12 --policies chain:3 eagle2:6 best_first"
    assert main(["calibrate", *base.split(), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    standings = {one["name"]: one for one in report["standings"]}
    assert list(standings) == ["eagle2:12", "chain:3", "eagle2:6", "best_first:12"]
    leader = standings["eagle2:12"]
    assert (leader["expected"], leader["accepted"]) == (report["expected"], report["accepted"])
    assert standings["chain:3"]["expected"] < standings["eagle2:6"]["expected"] < leader["expected"]
    assert leader["expected"] <= standings["best_first:12"]["expected"] + 1e-12
    assert main(["calibrate", *base.split()]) == 0
    assert "best_first:12" in capsys.readouterr().out
    assert standings["chain:3"]["drafted"] == 3 and leader["budget"] == 12 >= leader["drafted"]


@pytest.mark.parametrize("entry", ["eagle9:4", "chain:x", "chain:-3", "chain:0", "chain:", ":4", "best_static:5"])
def test_a_policy_that_is_none_is_named(capsys, folder, head, entry):
    options = f"--target {folder} --head {head} --limit 1 --max-new-tokens 3 --budget 4 --policies {entry}"
    assert main(["calibrate", *options.split()]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1


@pytest.mark.parametrize("given", ["--policies chain:3", "--limit 2", "--prompts x.jsonl", "--budget 0"])
def test_what_recordings_cannot_answer_is_refused(capsys, given):
    assert main(["calibrate", "--recordings", "x.npz", *given.split()]) == 2
    said = capsys.readouterr().err
    assert given.split()[0].removeprefix("--") in said and said.count("\n") == 1


def test_calibrate_recorded_needs_no_model(capsys, tmp_path):
    """And takes a shape of one's own as a rung of the ladder: EAGLE-1's list in a file is worth what EAGLE-1's shape is."""
    from eagle_viz.core.recording import shipped

    files = [str(path) for name, path in shipped().items() if name.startswith("oracle")]
    shape = tmp_path / "choices.json"
    shape.write_text(json.dumps([list(path) for path in EAGLE1_PATHS]))
    options = ["--budget", "25", "--recordings", files[0], "--policies", str(shape), "[[0],[1]]", "--json"]
    assert main(["calibrate", *options]) == 0
    report = json.loads(capsys.readouterr().out)
    rungs = {rung["name"]: rung for rung in report["ladder"]}
    own, published = rungs[f"{shape}:25"], rungs["eagle1"]
    assert report["reliability"]["ece"] == 0 and own["target"] == published["target"] > rungs["[[0],[1]]:25"]["target"] > 0


def test_mt_bench_lines_and_plain_texts_are_read(tmp_path):
    file = tmp_path / "prompts.jsonl"
    file.write_text('{"question_id": 81, "category": "writing", "turns": ["One", "Two"]}\n\n{"text": "Three"}\n')
    assert [(prompt.name, prompt.kind, prompt.text) for prompt in read_prompts(str(file))] == [
        ("81", "writing", "One"),
        ("3", "text", "Three"),
    ]
    assert [prompt.text for prompt in read_prompts(str(file), 1)] == ["One"]


@pytest.mark.parametrize("line", ["nonsense", "[]", "{}", '{"turns": []}', '{"text": 3}', '{"text": " "}'])
def test_a_bad_prompt_line_is_named(capsys, tmp_path, line):
    file = tmp_path / "prompts.jsonl"
    file.write_text('{"text": "fine"}\n' + line)
    assert main(["bench", "decode", "--prompts", str(file)]) == 2
    assert "prompts: line 2 holds" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options", ["calibrate --prompts /nowhere.jsonl", "calibrate --recordings /nowhere.npz", "calibrate --limit 0"]
)
def test_bad_options_exit_2_with_one_line(capsys, options):
    assert main(options.split()) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.fixture(scope="module")
def greedy_head(head, tmp_path_factory):
    """The tiny head with a calibration for greedy decoding in its config."""
    place = tmp_path_factory.mktemp("greedy")
    shutil.copytree(head, place, dirs_exist_ok=True)
    config = json.loads((head / "config.json").read_text())
    config["eagle_viz"] = {"greedy": {"power": [2.0], "rest_power": 0.5, "rest_weight": -3.0}}
    (place / "config.json").write_text(json.dumps(config))
    return place


def test_a_reading_is_chosen_and_both_are_promised(capsys, folder, greedy_head):
    """By default a head that knows the greedy reading drafts in it; with --reading sampling it promises what the other says."""
    base = f"--target {folder} --head {greedy_head} --limit 1 --max-new-tokens 8 --budget 6 --json"
    found = {}
    for name, options in {"default": "", "greedy": "--reading greedy", "sampling": "--reading sampling"}.items():
        assert main(["calibrate", *base.split(), *options.split()]) == 0
        found[name] = json.loads(capsys.readouterr().out)
    assert found["default"] == found["greedy"] and found["greedy"]["reading"] == "greedy"
    assert found["sampling"]["expected"] == pytest.approx(found["sampling"]["sampled"]) and found["sampling"]["greedy"] is None
    assert found["greedy"]["expected"] > found["greedy"]["sampled"]


@pytest.mark.parametrize("command", ["calibrate --limit 1", "generate --prompt w7"])
def test_a_head_without_the_reading_is_refused(capsys, folder, head, command):
    """One sentence that names what the head lacks."""
    assert main([*command.split(), "--target", str(folder), "--head", str(head), "--reading", "greedy"]) == 2
    assert "reading: 'greedy' given" in capsys.readouterr().err


def test_recordings_without_the_reading_are_refused(capsys):
    """The shipped oracle's recordings are read for sampling only."""
    from eagle_viz.core.recording import shipped

    file = next(str(path) for name, path in shipped().items() if name.startswith("oracle"))
    assert main(["calibrate", "--recordings", file, "--reading", "greedy"]) == 2
    assert "has no calibration for it, allowed is sampling" in capsys.readouterr().err


def test_calibrate_reads_a_heads_attention_along_its_answers(capsys, folder, head):
    """Entropy, largest weight and state norm for six drafting steps; the target itself has no such layer."""
    base = ["calibrate", "--target", str(folder), "--limit", "1", "--max-new-tokens", "6", "--budget", "4"]
    assert main([*base, "--head", str(head), "--json"]) == 0
    attention = json.loads(capsys.readouterr().out)["attention"]
    assert len(attention) == 6 and all(0 < one["largest"] <= 1 and one["entropy"] >= 0 and one["norm"] > 0 for one in attention)
    assert main([*base, "--head", str(head)]) == 0
    assert "by drafting step: attention entropy" in capsys.readouterr().out
    assert main([*base, "--drafter", "oracle", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["attention"] is None
