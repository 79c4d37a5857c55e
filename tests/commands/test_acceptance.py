"""``acceptance`` prints the documented schema and refuses bad files in one line."""

import json

import pytest

from eagle_viz.commands import main
from tests.imports.test_formats import BENCH, VLLM_METRICS, VLLM_RESPONSE


def run(capsys, *arguments):
    status = main(["acceptance", *map(str, arguments)])
    return status, capsys.readouterr()


@pytest.fixture
def metrics(tmp_path):
    path = tmp_path / "metrics.txt"
    path.write_text(VLLM_METRICS)
    return path


def test_json_has_the_documented_fields(capsys, metrics):
    """version and files; each with file, format, tau, passes, positions (position, rate, low, high) and notes."""
    status, said = run(capsys, metrics, "--json")
    document = json.loads(said.out)
    entry = document["files"][0]
    assert status == 0 and set(document) == {"version", "files"} and document["version"] == 1
    assert list(entry) == ["file", "format", "tau", "passes", "positions", "notes"]
    assert (entry["file"], entry["format"], entry["passes"]) == ("metrics.txt", "vllm-metrics", 489)
    assert entry["tau"] == pytest.approx(1 + 641 / 489)
    assert [list(position) for position in entry["positions"]] == [["position", "rate", "low", "high"]] * 3


def test_what_is_not_known_is_null(capsys, tmp_path):
    """A benchmark line tells tau alone."""
    path = tmp_path / "bench.jsonl"
    path.write_text(json.dumps(BENCH))
    entry = json.loads(run(capsys, path, "--json")[1].out)["files"][0]
    assert (entry["tau"], entry["passes"], entry["positions"]) == (2.125, None, [])


def test_two_files_are_compared_by_position(capsys, metrics, tmp_path):
    """The last file's notes say the difference and whether it is more than noise."""
    other = tmp_path / "response.json"
    other.write_text(json.dumps(VLLM_RESPONSE))
    document = json.loads(run(capsys, metrics, other, "--json")[1].out)
    assert len(document["files"]) == 2 and any("more than noise" in note for note in document["files"][1]["notes"])
    text = run(capsys, metrics, other)[1].out
    assert "position 1: -0.516 (95 % interval" in text and "passes that accepted 0, 1, 2" in text


@pytest.mark.parametrize("content", [b"nothing", b"\xff"])
def test_another_file_exits_2_with_one_line(capsys, tmp_path, content):
    """The line names the file."""
    path = tmp_path / "odd.bin"
    path.write_bytes(content)
    status, said = run(capsys, path)
    assert status == 2 and said.out == "" and said.err.startswith("error: odd.bin: file:") and said.err.count("\n") == 1


def test_a_missing_file_exits_2(capsys, tmp_path):
    """No traceback."""
    status, said = run(capsys, tmp_path / "none.json")
    assert status == 2 and said.err.count("\n") == 1
