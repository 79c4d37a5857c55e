"""The command line says what the library computes, and bad input in one line."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from eagle_viz import POLICIES, SyntheticLandscape, compare
from eagle_viz.commands import build_parser, main
from eagle_viz.commands.parser import policy_of
from eagle_viz.core.documents import comparison_document, comparison_trees, draft_document, tree_from_document
from eagle_viz.core.readout import comparison_remarks, draft_up_to
from eagle_viz.stage.trace import build_trace

ROOT = Path(__file__).parents[2]


def run(capsys, *arguments):
    status = main(list(arguments))
    return status, capsys.readouterr()


def test_compare_json_equals_the_library(capsys):
    options = "--seed 7 --sharpness 2.5 --branching 4 --budget 25 --static eagle1 --dynamic eagle2 --json".split()
    status, said = run(capsys, "compare", *options)
    document, pair = json.loads(said.out), compare(SyntheticLandscape(seed=7, sharpness=2.5, branching=4), budget=25)
    assert status == 0 and document["version"] == 1
    assert document["gain"] == pair.gain
    assert document["dynamic"]["expected_accepted"] == pair.dynamic.tree.expected_accepted
    assert set(document["static"]) == {"policy", "budget", "expected_accepted", "depth", "passes", "nodes"}
    assert len(document["static"]["nodes"]) == 25 and set(document["static"]["nodes"][0]) == {"path", "confidence", "value"}
    assert sum(node["value"] for node in document["dynamic"]["nodes"]) == pytest.approx(document["dynamic"]["expected_accepted"])


def test_tree_draws_every_kept_node(capsys):
    status, said = run(capsys, "tree", "--confidences", "0.5,0.25", "--policy", "best_first", "--budget", "3")
    assert status == 0
    assert "└─ 1  0.250  1 x 0.250 = 0.250" in said.out and "expected accepted 1.000" in said.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "--budget", "-3"], "budget: -3 given"),
        (["compare", "--seed", "-1"], "seed: -1 given"),
        (["compare", "--static", "eagle9"], "policy: 'eagle9' given"),
        (["compare", "--budget", "5000000"], "budget: 5000000 given"),
        (
            ["tree", "--policy", "max_sweep", "--max-depth", "3"],
            "max_depth: 3 given, but max_sweep takes no max_depth; allowed with",
        ),
        (["compare", "--dynamic", "best_first", "--top-k", "3"], "top_k: 3 given, but neither eagle1 nor best_first takes top_k"),
        (["tree", "--policy", "chain", "--early-stop"], "early_stop: True given, but chain takes no early_stop"),
        (["tree", "--confidences", "a,b"], "confidences: 'a,b' given"),
        (["tree", "--policy", "[[0,0]]"], "paths: 0.0 given without its parent 0"),
        (["tree", "--policy", "[[0],[1]]", "--top-k", "3"], "top_k: 3 given, but [[0],[1]] takes no top_k"),
        (["tree", "--confidences", "0.9,0.9"], "sums to 1.8"),
        (["tree", "--sharpness", "nan"], "sharpness: nan given"),
    ],
)
def test_bad_input_exits_2_with_one_clear_line(capsys, arguments, words):
    status, said = run(capsys, *arguments)
    assert status == 2 and said.out == ""
    assert words in said.err and said.err.count("\n") == 1


def test_fewer_nodes_than_the_budget_are_a_result_with_the_page_s_sentence(capsys):
    """A policy that has less to keep says so on standard error, and its tree is printed."""
    status, said = run(capsys, "tree", "--max-depth", "1", "--budget", "60", "--json")
    assert status == 0 and json.loads(said.out)["budget"] == 4
    trace = build_trace(SyntheticLandscape(), POLICIES["chain"](), POLICIES["eagle2"](max_depth=1), tier=64)
    assert said.err.strip() == trace["sides"]["dynamic"]["notice"].replace("{budget}", "60")
    assert said.err.startswith("EAGLE-2 found only 4 of 60 nodes at these settings; raise")


@pytest.mark.parametrize(
    ("options", "said"), [([], "Coverage 1: the next token is always"), (["--coverage", "0.9"], "with 10 % chance")]
)
def test_the_text_says_what_the_landscape_assumes_of_misses(capsys, options, said):
    """Coverage is an assumption that changes every number, so it stands beside them, and the option changes them."""
    _, text = run(capsys, "compare", "--seed", "61", *options)
    assert said in text.out
    pair = compare(SyntheticLandscape(61, coverage=float((options or [0, 1])[1])))
    assert f"gain {pair.gain:+.1%}" in text.out and f"{pair.dynamic.tree.expected_accepted:.3f}" in text.out


def test_unequal_trees_and_continued_shapes_are_said_by_every_command_that_compares(capsys, tmp_path):
    """``compare`` and ``export`` say on standard error what the page says below its trees."""
    options = ["--budget", "40", "--top-k", "2"]
    pair = [draft_up_to(POLICIES["eagle1"](), SyntheticLandscape(), 40)[0]]
    pair.append(draft_up_to(POLICIES["eagle2"](top_k=2), SyntheticLandscape(), 40)[0])
    wanted = comparison_remarks(*pair)
    assert len(wanted) == 2 and "of the 40 drawn here 15 come" in wanted[0] and "40 nodes, EAGLE-2 22;" in wanted[1]
    for command in (["compare", "--json"], ["export", "--to", str(tmp_path / "player.html")]):
        _, said = run(capsys, *command, *options)
        assert all(remark in said.err for remark in wanted)


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_and_its_parameters_are_options(capsys, name):
    """Each option changes the policy that has it, at another value than its default."""
    policy = POLICIES[name]()
    for entry in policy.parameters:
        given = entry.kind(entry.high if entry.start is not None else 1)
        value = [] if entry.kind is bool else [str(given)]
        args = build_parser().parse_args(["tree", "--policy", name, f"--{entry.name.replace('_', '-')}", *value])
        assert policy_of(name, args) == replace(policy, **{entry.name: given})


@pytest.mark.parametrize("arguments", [[], ["paint"], ["compare", "--seed", "x"], ["compare", "--colour", "red"]])
def test_a_wrong_command_line_exits_2_with_one_clear_line(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    said = capsys.readouterr()
    assert caught.value.code == 2 and said.err.count("\n") == 1


@pytest.mark.parametrize("command", [[], ["tree"], ["compare"]])
def test_every_command_has_help(capsys, command):
    with pytest.raises(SystemExit) as caught:
        main([*command, "--help"])
    assert caught.value.code == 0 and "usage" in capsys.readouterr().out


def test_a_document_loads_back():
    pair = compare(SyntheticLandscape(seed=3), budget=25)
    document = json.loads(json.dumps(comparison_document(pair)))
    for draft, tree in zip((pair.static, pair.dynamic), comparison_trees(document), strict=True):
        assert tree.paths == draft.tree.paths and tree.values.tolist() == draft.tree.values.tolist()


GOOD = draft_document(POLICIES["chain"]()(SyntheticLandscape(), 2))


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "nodes: missing"),
        ({}, "nodes: missing"),
        ({"nodes": [3]}, "nodes: '3' given"),
        ({"nodes": [{"path": "0.x", "confidence": 0.5}]}, "path: '0.x' given"),
        ({"nodes": [{"path": "-1", "confidence": 0.5}]}, "path: '-1' given"),
        ({"nodes": [{"path": "0", "confidence": 1.5}]}, "confidence: 1.5 given at path 0"),
        ({"nodes": [{"path": "0", "confidence": True}]}, "confidence: True given"),
        ({"nodes": [{"path": "0", "confidence": 0.5, "token": "a"}]}, "token: 'a' given"),
        ({"nodes": GOOD["nodes"][1:]}, "kept without its parent"),
        ({"nodes": GOOD["nodes"] * 2}, "two nodes have the same rank path"),
    ],
)
def test_a_bad_document_is_refused_in_one_sentence(document, words):
    with pytest.raises(ValueError, match=words):
        tree_from_document(document)


def test_a_document_of_another_version_is_refused():
    with pytest.raises(ValueError, match='Not a draft-tree file \\(no "version": 1\\)'):
        comparison_trees({"version": 9})


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_lacks_characters_gets_the_tree_all_the_same(encoding):
    command = [sys.executable, "-m", "eagle_viz", "tree", "--confidences", "0.5,0.25", "--policy", "best_first", "--budget", "3"]
    done = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": encoding}, cwd=ROOT)
    assert done.returncode == 0 and done.stderr == b""
    lines = done.stdout.decode(encoding).splitlines()
    assert [line.split()[-1] for line in lines[1:4]] == ["0.500", "0.250", "0.250"]
