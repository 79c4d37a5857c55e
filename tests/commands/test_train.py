"""``train`` on a tiny random Llama: one command from nothing to a head; bad plans in one line."""

from functools import partial

import pytest

from eagle_viz.commands import main
from eagle_viz.commands.train import KINDS
from eagle_viz.engine.checkpoint import read_head, tensor_digest
from eagle_viz.engine.head import Head
from eagle_viz.engine.target import Target
from eagle_viz.training import kinds, recipe
from eagle_viz.training.corpus import CorpusPlan, build_corpus


@pytest.mark.parametrize("entry", ["rate=1", "batch", "batch=x", "batch=0", "steps=1.5"])
def test_a_training_plan_that_is_none_is_named(capsys, folder, tmp_path, entry):
    options = f"--target {folder} --out {tmp_path / 'head'} --work {tmp_path / 'work'} --plan {entry}"
    assert main(["train", *options.split()]) == 2
    said = capsys.readouterr().err
    assert "error: " in said and entry.partition("=")[0] in said


@pytest.mark.parametrize("kind", KINDS)
def test_a_head_of_each_kind_is_trained_from_nothing_by_one_command(capsys, folder, tmp_path, kind, monkeypatch):
    """The whole way on a corpus of the tiny target's own, one step long: a head that loads comes out."""
    monkeypatch.setattr(recipe, "GREEDY_PROMPTS", ("w7 w9",))
    monkeypatch.setattr(recipe, "unseen_answers", partial(recipe.unseen_answers, limit=20))
    plan = CorpusPlan(batches=1, batch=160, limit=6)
    build_corpus(Target.load(folder), plan, tmp_path / "corpus", lambda stage, fraction: None).save(tmp_path / "c.npz")
    options = f"--kind {kind} --target {folder} --out {tmp_path / 'head'} --work {tmp_path / 'work'} --corpus {tmp_path / 'c.npz'}"
    assert main(["train", *options.split(), "--steps", "1"]) == 0
    assert len(Head.load(tmp_path / "head", Target.load(folder)).draft_tokens) > 0


def test_the_command_offers_every_kind_that_can_be_trained():
    assert set(KINDS) == set(kinds.KINDS)


def test_a_head_is_fitted_for_greedy_decoding_by_one_command(capsys, folder, head, tmp_path, monkeypatch):
    """The copy has the calibration in its config and the same weights; the target itself cannot be fitted."""
    monkeypatch.setattr(recipe, "GREEDY_PROMPTS", ("w7 w9", "w50 w8 w20"))
    out = tmp_path / "fitted"
    assert main(["fit", "--target", str(folder), "--head", str(head), "--out", str(out)]) == 0
    fitted = read_head(out)
    assert fitted.greedy.power[0] > 0 and tensor_digest(fitted.tensors) == tensor_digest(read_head(head).tensors)
    assert main(["fit", "--target", str(folder), "--drafter", "oracle", "--out", str(out)]) == 2
    assert "drafter: 'oracle' given" in capsys.readouterr().err
