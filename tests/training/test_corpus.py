"""Laws of the corpus: prompts by seed, answers the target's own, nothing of the evaluation in it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from eagle_viz.training.corpus import Corpus, CorpusPlan, build_corpus, join_parts, own_prompts, part_path, sample_parts
from eagle_viz.training.prompts import TEMPLATES, draw_prompts
from eagle_viz.training.sampler import draw_tokens, sample_batch
from eagle_viz.training.unseen import PROMPTS

EVALUATION = Path(__file__).resolve().parents[3] / "shared" / "prompts" / "mt_bench.jsonl"
PLAN = CorpusPlan(seed=3, batches=3, batch=4, limit=6, template_every=3)


def quiet(stage: str, share: float) -> None:
    pass


def test_prompts_are_seeded_and_different_from_each_other():
    prompts = draw_prompts(300, seed=1)
    assert prompts == draw_prompts(300, seed=1) and len(set(prompts)) == 300
    assert prompts != draw_prompts(300, seed=2)
    assert not any("{" in p or "}" in p for p in prompts)


def test_more_prompts_begin_with_the_same_ones():
    assert draw_prompts(50, seed=1) == draw_prompts(80, seed=1)[:50]


def test_every_kind_of_prompt_is_drawn_equally_often():
    assert {"writing", "code", "mathematics", "verse", "contracts"} <= set(TEMPLATES)
    assert sum("haiku" in p for p in draw_prompts(1100, seed=0)) > 3


def test_too_many_prompts_is_one_sentence(monkeypatch):
    monkeypatch.setattr("eagle_viz.training.prompts.TEMPLATES", {"verse": ["Write a haiku.", "Write a song."]})
    with pytest.raises(ValueError, match="count must be small enough"):
        draw_prompts(5, seed=0)


@pytest.mark.skipif(not EVALUATION.exists(), reason="the evaluation prompts are not part of the repository")
def test_no_evaluation_prompt_is_in_the_corpus():
    turns = {turn.strip().lower() for line in EVALUATION.open() for turn in json.loads(line)["turns"]}
    assert not turns & {p.strip().lower() for p in [*draw_prompts(10000, seed=CorpusPlan().seed), *PROMPTS]}


def test_drawing_follows_the_distribution():
    logits = torch.randn(1, 130, generator=torch.Generator().manual_seed(0)) * 2
    rows, generator = logits.expand(4000, -1), torch.Generator().manual_seed(1)
    drawn = torch.cat([draw_tokens(rows, torch.full((4000,), 0.7), generator) for _ in range(10)])
    found = torch.bincount(drawn, minlength=130) / len(drawn)
    assert (found - (logits[0] / 0.7).softmax(-1)).abs().max() < 0.012


def test_temperature_zero_takes_the_largest():
    logits = torch.randn(40, 130, generator=torch.Generator().manual_seed(0))
    assert torch.equal(draw_tokens(logits, torch.zeros(40), torch.Generator()), logits.argmax(-1))


def test_greedy_answers_side_by_side_are_plain_greedy_answers(target):
    prompts = [target.encode_chat(text) for text in ("w5", "w6 w7 w8 w9 w10", "w11 w12")]
    for prompt, answer in zip(prompts, sample_batch(target, prompts, [0.0] * 3, limit=8, seed=0), strict=True):
        assert answer == _greedy(target, prompt, len(answer))


def _greedy(target, prompt: list[int], count: int) -> list[int]:
    answer: list[int] = []
    for _ in range(count):
        answer.append(int(target.forward(prompt + answer).logits[-1].argmax()))
    return answer


def test_answers_end_with_an_end_token_or_at_the_limit(target, corpus):
    for answer in corpus.answers():
        assert answer.answer[-1] in target.end_tokens or len(answer.answer) == 12
        assert not set(answer.answer[:-1]) & target.end_tokens


def test_a_corpus_survives_its_file(tmp_path, corpus):
    corpus.save(tmp_path / "corpus.npz")
    again = Corpus.load(tmp_path / "corpus.npz")
    assert list(again.answers()) == list(corpus.answers()) and again.tokens.dtype == np.uint16
    assert [p.name for p in tmp_path.iterdir()] == ["corpus.npz"]
    (tmp_path / "corpus.npz").write_bytes(b"x")
    with pytest.raises(ValueError, match="cannot be read"):
        Corpus.load(tmp_path / "corpus.npz")


def test_building_is_deterministic_and_resumes(monkeypatch, tmp_path, target):
    monkeypatch.setattr(target, "encode_chat", lambda text: [2, *(4 + ord(c) % 90 for c in text[:6]), 1, 3])
    monkeypatch.setattr("eagle_viz.training.corpus.own_prompts", lambda target, count, seed: [f"own {seed}"] * count)
    whole = build_corpus(target, PLAN, tmp_path / "a", quiet)
    sample_parts(target, PLAN, tmp_path / "b", [2, 0], quiet)
    resumed = build_corpus(target, PLAN, tmp_path / "b", quiet)
    assert list(whole.answers()) == list(resumed.answers()) and len(whole) == 12
    assert whole.answer_tokens == sum(len(a.answer) for a in whole.answers())


def test_batches_of_another_plan_are_not_taken_for_finished_ones(tmp_path, target):
    sample_parts(target, PLAN, tmp_path, [], quiet)
    sample_parts(target, replace(PLAN, batches=9), tmp_path, [], quiet)
    with pytest.raises(ValueError, match="work: .* was made from .*limit.* not from"):
        sample_parts(target, replace(PLAN, limit=7), tmp_path, [], quiet)


def test_a_passed_deadline_stops_before_the_next_batch(tmp_path, target):
    with pytest.raises(ValueError, match="holds no sampled batches"):
        build_corpus(target, PLAN, tmp_path, quiet, deadline=0)
    assert not part_path(tmp_path, 0).exists()
    with pytest.raises(ValueError, match="holds no sampled batches"):
        join_parts(tmp_path)


def test_own_prompts_are_finished_texts(target):
    assert all(len(text) >= 12 for text in own_prompts(target, 8, seed=0))


def test_a_plan_names_its_bad_field():
    with pytest.raises(ValueError, match="limit must be at least 1, got 0"):
        CorpusPlan(limit=0)
