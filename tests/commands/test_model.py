"""``generate`` and ``record`` on a tiny random Llama saved to disk, bad input in one line, and ``export``."""

import ast
import json
import re

import pytest

from eagle_viz.commands import main
from eagle_viz.core import recording
from eagle_viz.engine.plain import plain
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target
from tests.engine.tiny import tiny_llama, tiny_tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A target folder as any Hugging Face model has it."""
    place = tmp_path_factory.mktemp("target")
    tiny_llama().save_pretrained(place)
    tiny_tokenizer().save_pretrained(place)
    return str(place)


def test_generate_json_adds_up_and_equals_plain_decoding(capsys, folder):
    options = f"--target {folder} --drafter oracle --budget 6 --max-new-tokens 12 --check --json"
    assert main(["generate", "--prompt", "a b c", *options.split()]) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) == {"version", "text", "tokens", "tau", "acceptance", "cycles", "seconds", "check"}
    assert said["check"] == {"identical": True, "first_difference": None, "gap": None}
    assert sum(len(cycle["tokens"]) for cycle in said["cycles"]) == len(said["tokens"]) - 1
    assert said["tau"] == (len(said["tokens"]) - 1) / len(said["cycles"])
    lengths = [cycle["policies"]["eagle2"]["accept_length"] for cycle in said["cycles"]]
    assert said["acceptance"]["accepted"] == sum(lengths) <= said["acceptance"]["drafted"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--temperature 1 --check", "check: temperature 1.0 given"),
        ("--seed -1", "seed: -1 given, allowed is a whole number from 0"),
        ("--temperature -1", "temperature: -1.0 given"),
        ("--max-new-tokens 0", "max_new_tokens: 0 given"),
        ("--policy eagle9", "policy: 'eagle9' given"),
        ("--policy best_static", "policy: 'best_static' given, allowed is one that needs no average context"),
        ("--target /nowhere/at/all --drafter oracle", "/nowhere/at/all"),
        ("--raw --system x", "system: given beside raw"),
    ],
)
def test_bad_options_of_generate_exit_2_with_one_line(capsys, options, words):
    assert main(["generate", "--prompt", "hi", *options.split()]) == 2
    said = capsys.readouterr()
    assert words in said.err.splitlines()[-1] and said.out == ""


def test_fewer_nodes_than_asked_for_are_said(capsys, folder):
    """Two levels of width 2 score 2 + 4 = 6 nodes, whatever the budget."""
    options = f"--target {folder} --drafter oracle --budget 59 --top-k 2 --max-depth 2 --max-new-tokens 4 --json"
    assert main(["generate", "--prompt", "a b c", *options.split()]) == 0
    said = capsys.readouterr()
    assert {cycle["policies"]["eagle2"]["budget"] for cycle in json.loads(said.out)["cycles"]} == {6}
    assert "budget: 59 given, 6 drafted a pass at most: EAGLE-2" in said.err


def test_a_wide_beam_gets_as_many_candidates_as_it_asks_for(capsys, folder):
    """One level of width 20 drafts 20 nodes, not the usual 10 candidates."""
    options = f"--target {folder} --drafter oracle --budget 20 --top-k 20 --max-depth 1 --max-new-tokens 4 --json"
    assert main(["generate", "--prompt", "a b c", *options.split()]) == 0
    said = capsys.readouterr()
    assert {cycle["policies"]["eagle2"]["budget"] for cycle in json.loads(said.out)["cycles"]} == {20}
    assert "budget:" not in said.err


def test_turns_are_answered_one_after_the_other(capsys, folder):
    """The second turn stands behind the first one and its answer: it equals the answer to that whole conversation."""
    options = f"--target {folder} --drafter oracle --budget 6 --max-new-tokens 6 --check --json --system w9"
    assert main(["generate", "--prompt", "w30", "w40 w41", *options.split()]) == 0
    said = json.loads(capsys.readouterr().out)
    (first,) = said["earlier"]
    target = Target.load(folder)
    turns = [("system", "w9"), ("user", "w30"), ("assistant", first["text"]), ("user", "w40 w41")]
    ids = target.encode_chat([{"role": role, "content": text} for role, text in turns])
    assert said["tokens"] == [token for token, _ in plain(target, ids, Settings(6))]
    assert said["check"]["identical"] and first["check"]["identical"]


def test_a_raw_prompt_is_continued(capsys, folder):
    """No chat template: the answer is plain decoding behind the text's own tokens."""
    options = f"--target {folder} --drafter oracle --budget 6 --max-new-tokens 6 --json --raw"
    assert main(["generate", "--prompt", "w30 w31", *options.split()]) == 0
    found = json.loads(capsys.readouterr().out)["tokens"]
    assert found == [token for token, _ in plain(Target.load(folder), [30, 31], Settings(6))]


def test_the_text_is_told_as_it_grows(capsys, folder):
    """What standard error says token by token joins to the text that standard output holds, the first token included."""
    options = f"--target {folder} --drafter oracle --budget 6 --max-new-tokens 12"
    assert main(["generate", "--prompt", "a b c", *options.split()]) == 0
    said = capsys.readouterr()
    told = re.findall(r"(?:first token|\d+ tokens), ('.*'|\".*\")$", said.err, re.M)
    assert "".join(map(ast.literal_eval, told)) == said.out.rstrip("\n")


def test_without_a_target_the_way_to_get_one_is_said(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("EAGLE_VIZ_HOME", str(tmp_path))
    assert main(["generate", "--prompt", "hi"]) == 2
    assert "python -m eagle_viz fetch" in capsys.readouterr().err


def test_an_unknown_prompt_to_record_is_named(capsys, folder, tmp_path):
    assert main(["record", "--to", str(tmp_path), "--target", folder, "--drafter", "oracle", "--prompts", "nobody"]) == 2
    assert "prompts: 'nobody' given, allowed are legal" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["generate", "record --to nowhere"])
def test_an_empty_prompt_is_refused(capsys, command):
    """As on the page."""
    assert main([*command.split(), "--prompt", "  "]) == 2
    assert capsys.readouterr().err == "error: prompt: nothing given, a question or a task is needed\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--prompt a --prompts fact", "prompts: given beside --prompt"),
        ("--prompt a --name ../x", "name: '../x' given, allowed are letters"),
        ("--raw", "raw: given without --prompt"),
    ],
)
def test_options_of_record_that_contradict_are_named(capsys, options, words):
    """Nothing given is ignored."""
    assert main(["record", "--to", "nowhere", *options.split()]) == 2
    assert words in capsys.readouterr().err


def test_a_prompt_of_ones_own_is_recorded(capsys, folder, tmp_path):
    """Under the name given, with the texts of every token of its answer."""
    options = f"--to {tmp_path} --target {folder} --drafter oracle --max-new-tokens 6 --contexts 1 --name mine --raw"
    assert main(["record", "--prompt", "w30 w31", *options.split()]) == 0
    found = recording.read(capsys.readouterr().out.strip())
    assert found.name == "oracle-mine" and found.prompt == "w30 w31" and found.tokens[:2] == (30, 31)
    assert all(token in found.texts for token in found.tokens[2:])


def test_recorded_files_open_again(capsys, folder, tmp_path):
    options = f"--to {tmp_path} --target {folder} --drafter oracle --max-new-tokens 6 --contexts 1 --prompts fact list"
    assert main(["record", *options.split()]) == 0
    written = capsys.readouterr().out.split()
    assert [recording.read(path).kind for path in written] == ["fact", "list"]


def test_an_exported_page_holds_the_trees_and_asks_for_nothing(capsys, tmp_path):
    page = tmp_path / "player.html"
    assert main(["export", "--to", str(page), "--seed", "11", "--budget", "12", "--title", "<b>Mine</b>"]) == 0
    text = page.read_text()
    assert "<b>Mine</b>" not in text and "&lt;b&gt;Mine" in text
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", text)
