"""The decoding bench on a tiny target: every method answers alike, and its counts are those of its passes."""

import json

import pytest
import torch

from eagle_viz import POLICIES
from eagle_viz.engine.bench import METHODS, DecodeBench, Decoders, Method, Sample, bench_decode
from eagle_viz.engine.head import Head
from eagle_viz.engine.prompts import Prompt
from eagle_viz.engine.sampling import Settings

TWO = (Prompt("one", "One", "fact", "w7 w9"), Prompt("two", "Two", "list", "w50 w8 w20"))


@pytest.fixture(scope="module")
def bench(hf_llama, tiny_target, tmp_path_factory):
    target, head = tmp_path_factory.mktemp("target"), tmp_path_factory.mktemp("head")
    hf_llama.save_pretrained(target)
    tiny_target.tokenizer.save_pretrained(target)
    Head.random(tiny_target, draft_vocabulary=60).save(head)
    methods = [Method("plain"), Method("prompt_lookup"), Method("eagle2", POLICIES["eagle2"](top_k=4, max_depth=3), 8)]
    return bench_decode(target, head, TWO, 16, methods, dtypes=[torch.float32])


def test_every_method_gives_the_plain_answer(bench):
    assert [(row.name, row.identical, row.tokens) for row in bench.rows()] == [
        ("plain", 2, 32),
        ("prompt_lookup", 2, 32),
        ("eagle2", 2, 32),
    ]


def test_counts_are_those_of_the_passes(bench):
    plain, lookup, eagle2 = bench.rows()
    assert plain.passes == 30 and plain.tau == 1 and lookup.passes <= 30
    assert eagle2.draft + eagle2.verify + eagle2.rest == pytest.approx(1)
    assert eagle2.tau >= 1 and eagle2.expected_tau > 1
    assert bench.best_plain() == plain


def test_rows_by_kind_add_up_to_the_rows_over_all(bench):
    by_kind = bench.rows(by_kind=True)
    assert [(row.name, row.kind) for row in by_kind[:2]] == [("plain", "fact"), ("plain", "list")]
    assert sum(row.tokens for row in by_kind) == sum(row.tokens for row in bench.rows())
    document = json.loads(json.dumps(bench.to_json()))
    assert set(document) == {"threads", "rows", "by_kind", "samples"}


def test_tau_by_hand():
    """Two answers: 6 tokens in 2 passes and 2 in 2 give tau 2; 9 and 3 tokens in 4 + 2 seconds give 2 a second."""
    samples = [
        Sample("x", "float32", 5, "a", "fact", tokens=9, seconds=4, passes=2, produced=6, draft=1, verify=2, rest=1),
        Sample("x", "float32", 5, "b", "fact", tokens=3, seconds=2, passes=2, produced=2, draft=1, verify=2, rest=1),
    ]
    (row,) = DecodeBench(tuple(samples), threads=2).rows()
    assert (row.tau, row.tokens_per_second, row.verify) == (2, 2, 0.5)


def test_a_difference_is_placed_and_its_gap_measured(tiny_target, hf_llama, tmp_path):
    hf_llama.save_pretrained(tmp_path / "target")
    tiny_target.tokenizer.save_pretrained(tmp_path / "target")
    Head.random(tiny_target, draft_vocabulary=60).save(tmp_path / "head")
    decoders = Decoders(tmp_path / "target", tmp_path / "head", torch.float32)
    tokens, sample = decoders.decode(Method("plain"), TWO[0], Settings(6))
    assert decoders.compare(TWO[0], sample, tokens, tokens) == sample and sample.identical
    found = decoders.compare(TWO[0], sample, [*tokens[:3], tokens[3] + 1], tokens)
    best = tiny_target.forward([*tiny_target.encode_chat(TWO[0].text), *tokens[:3]]).logits[-1].topk(2).values
    assert found.first_difference == 3 and found.gap == pytest.approx(float(best[0] - best[1]), abs=1e-5)


def test_a_bench_without_prompts_is_a_sentence():
    with pytest.raises(ValueError, match="prompts: none given"):
        bench_decode("nowhere", "nowhere", [])


def test_default_methods_hold_the_comparisons_of_the_page():
    names = [method.name for method in METHODS]
    assert {"plain", "prompt_lookup", "chain", "eagle1", "eagle2"} <= set(names)
    assert {method.budget for method in METHODS if method.name == "eagle2"} >= {25, 59}
