"""`record --drafter-url`: recordings from servers, and one sentence for options that do not go together."""

import shlex
from pathlib import Path

import pytest

from eagle_viz.commands import build_parser, main
from eagle_viz.commands.served import check_served
from eagle_viz.core.recording import read
from tests.engine.served.fake import KEY, Model, encode, greedy_after, serving

PAGE = (Path(__file__).parents[2] / "docs" / "served-models.md").read_text().replace("\\\n", " ")
COMMANDS = [line.partition("#")[0] for line in PAGE.splitlines() if line.strip().startswith("python -m eagle_viz")]


def complaint(capsys, *arguments) -> str:
    """The one line with which a command ends at status 2."""
    assert main(["record", "--to", "nowhere", *arguments]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[-1].startswith("error: ")
    return told[-1]


def test_two_servers_make_a_recording_that_opens(tmp_path, capsys, monkeypatch):
    """The small model's confidences over the large one's text, each server asked with its own key."""
    monkeypatch.setenv("EAGLE_VIZ_API_KEY", KEY)
    monkeypatch.setenv("EAGLE_VIZ_TARGET_API_KEY", "other")
    with serving("vllm", model=Model(salt=1), key=KEY) as small, serving("vllm", key="other") as large:
        asked = ["--drafter-url", small.url, "--target-url", large.url, "--prompt", "a question", "--raw", "--name", "mine"]
        assert main(["record", "--to", str(tmp_path), *asked, "--max-new-tokens", "3", "--contexts", "1"]) == 0
    told = capsys.readouterr()
    found = read(told.out.strip())
    assert (found.name, found.target, found.drafter, found.prompt) == ("tiny1-mine", "tiny", "tiny1", "a question")
    assert found.tokens[found.prompt_length :][:3] == tuple(greedy_after(encode("a question"), 3))
    assert found.made["holds"]["budget"] == 128 and KEY not in told.err


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--target-url", "http://127.0.0.1:1"], "target_url: given without --drafter-url"),
        (["--timeout", "5"], "timeout: given without --drafter-url"),
        (["--drafter-url", "http://127.0.0.1:1", "--dtype", "bfloat16"], "dtype: given beside --drafter-url"),
        (["--drafter-url", "http://127.0.0.1:1", "--drafter", "oracle"], "drafter: given beside --drafter-url"),
        (["--drafter-url", "http://127.0.0.1:1", "--target-model", "big"], "target_model: given without --target-url"),
        (["--drafter-url", "127.0.0.1:1"], "url: not an address"),
        (["--drafter-url", "http://me:pw@127.0.0.1:1"], "url: name, key or query inside it"),
        (["--drafter-url", "http://127.0.0.1:1", "--timeout", "0"], "timeout: 0.0 given, allowed are seconds above 0"),
    ],
)
def test_options_that_do_not_go_together(capsys, arguments, sentence):
    assert sentence in complaint(capsys, *arguments)


def test_a_wrong_key_is_one_line_without_it(capsys, monkeypatch):
    monkeypatch.setenv("EAGLE_VIZ_API_KEY", "wrong-" + KEY)
    with serving("vllm", key="right") as fake:
        line = complaint(capsys, "--drafter-url", fake.url)
    assert "(401); put the right one in EAGLE_VIZ_API_KEY" in line and KEY not in line


@pytest.mark.parametrize("command", COMMANDS)
def test_the_documented_commands_are_understood(command):
    """Every option on the page exists, and goes with the others."""
    args = build_parser().parse_args(shlex.split(command)[3:])
    assert args.command == "record" and check_served(args.parser, args)
