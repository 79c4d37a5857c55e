"""Laws of the whole way: one call from a target to a calibrated head, and confidences that mean what they say."""

from functools import partial

import numpy as np
import pytest
import torch

from eagle_viz.engine.checkpoint import read_head
from eagle_viz.engine.head import Head
from eagle_viz.training import recipe
from eagle_viz.training.calibrate import (
    Unseen,
    calibrate,
    calibration_error,
    equal_count_error,
    held_out_rows,
    unseen_answers,
)
from eagle_viz.training.corpus import CorpusPlan
from eagle_viz.training.prompts import draw_prompts
from eagle_viz.training.recipe import train_head
from eagle_viz.training.train import Trainer, TrainPlan, train
from eagle_viz.training.unseen import PROMPTS

PLAN = TrainPlan(steps=12, batch=4, single=0, warmup=2, draft_vocabulary=48, held_out=8, evaluate_every=12, muon_rate=0.02)


@pytest.fixture(scope="module")
def trainer(target, corpus, features, tmp_path_factory):
    trainer = Trainer(target, corpus, features, PLAN, tmp_path_factory.mktemp("run"))
    return train(trainer, lambda text, share: None)


@pytest.fixture(scope="module")
def unseen(corpus, features):
    return Unseen(corpus, features)


def test_unseen_answers_are_no_answers_to_templates(target):
    found = unseen_answers(target, limit=3)
    assert len(found.corpus) == 3 * len(PROMPTS) and found.features.shape == (len(found.corpus.tokens), 32)
    wanted = target.forward(found.corpus.sequence(4).astype(np.int64)).features
    rows = found.features[found.corpus.starts[4] : found.corpus.starts[5]].float()
    torch.testing.assert_close(rows, wanted, atol=0.02, rtol=0.02)
    assert not set(PROMPTS) & set(draw_prompts(3000, seed=CorpusPlan().seed))


def test_truth_is_a_distribution_over_draft_vocabulary_and_rest(trainer, unseen):
    (held,) = held_out_rows(trainer, unseen, np.arange(8), depths=1, rows=10)
    torch.testing.assert_close(held.truth.sum(-1), torch.ones(len(held.truth)))
    assert held.truth.shape[1] == 49 and (held.truth[:, -1] > 0).all()


def test_calibration_lowers_the_error_and_keeps_the_order(trainer, unseen, target):
    plain, fitted = trainer.checkpoint(), calibrate(trainer, unseen, depths=3, rows=60)
    assert len(fitted.temperatures) == 3 and all(t > 0 for t in fitted.temperatures)
    assert calibration_error(trainer, unseen, fitted, 3, 60)["all"] < calibration_error(trainer, unseen, plain, 3, 60)["all"]
    guess = torch.randn(6, 32, generator=torch.Generator().manual_seed(0))
    before, after = (Head(c, target).candidates(guess, 5, [2] * 6).tokens for c in (plain, fitted))
    assert torch.equal(before, after)


def test_equal_count_error_of_a_worked_example():
    assert equal_count_error(np.array([0.2, 0.8]), np.array([0.1, 0.9]), bins=2) == 0.1
    assert equal_count_error(np.array([0.3, 0.5, 0.7]), np.array([0.3, 0.5, 0.7]), bins=15) == 0.0


def test_one_call_makes_a_head_and_a_second_one_only_reads(tmp_path, target, corpus, trainer, monkeypatch):
    from tests.engine.tiny import tiny_llama, tiny_tokenizer

    tiny_llama().save_pretrained(tmp_path / "target")
    tiny_tokenizer().save_pretrained(tmp_path / "target")
    corpus.save(tmp_path / "corpus.npz")
    monkeypatch.setattr(recipe, "GREEDY_PROMPTS", ("w7 w9",))
    monkeypatch.setattr(recipe, "unseen_answers", partial(recipe.unseen_answers, limit=20))
    told = []
    for _ in range(2):
        told.clear()
        train_head(
            tmp_path / "target",
            tmp_path / "head",
            tmp_path / "work",
            corpus=tmp_path / "corpus.npz",
            plan=PLAN,
            progress=lambda text, share: told.append(text),
        )
    stages = [text.split(":")[0] for text in told]
    assert list(dict.fromkeys(stages)) == ["calibrating", "calibrated", "answering greedily", "greedy reading"]
    assert len(read_head(tmp_path / "head").temperatures) == 6
    assert read_head(tmp_path / "head").greedy.power[0] > 0
    assert Head.load(tmp_path / "head", target).draft_tokens.shape == (48,)
