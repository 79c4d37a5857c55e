"""Laws of training: it learns, it resumes exactly, and what it trains is the head that the engine runs."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from eagle_viz.engine.head import Head, eagle3_taps, head_shape, random_checkpoint, random_eagle3_checkpoint
from eagle_viz.training.data import batch_order, make_batch
from eagle_viz.training.features import compute_features, draft_vocabulary, length_batches
from eagle_viz.training.losses import draft_loss, teacher_probabilities
from eagle_viz.training.train import Trainer, TrainPlan, agreement, check_corpus, train
from eagle_viz.training.unrolled import UnrolledEagle, UnrolledEagle3, attention_weights, shifted
from tests.engine.tiny import tiny_target

PLAN = TrainPlan(steps=20, batch=4, single=0, warmup=2, draft_vocabulary=64, held_out=4, evaluate_every=10, muon_rate=0.02)


def quiet(stage: str, share: float) -> None:
    pass


def test_features_are_the_targets_own(target, corpus, features):
    for index in (0, 7, len(corpus) - 1):
        rows = features[corpus.starts[index] : corpus.starts[index + 1]].float()
        wanted = target.forward(corpus.sequence(index).astype(np.int64)).features
        torch.testing.assert_close(rows, wanted, atol=0.02, rtol=0.02)


def test_finished_features_are_not_computed_again(tmp_path, target, corpus):
    store = compute_features(target, corpus, tmp_path / "f.bin", quiet)
    stamp = store.path.stat().st_mtime_ns
    told = []
    compute_features(target, corpus, tmp_path / "f.bin", lambda stage, share: told.append(share))
    assert store.path.stat().st_mtime_ns == stamp and told == []


def test_length_batches_hold_every_answer_once_and_keep_the_budget(corpus):
    batches = length_batches(corpus, budget=40)
    assert sorted(i for b in batches for i in b) == list(range(len(corpus)))
    sizes = np.diff(corpus.starts)
    assert all(len(b) == 1 or sizes[b].max() * len(b) <= 40 for b in batches)


def test_the_draft_vocabulary_is_the_most_frequent_answer_tokens(corpus):
    chosen = draft_vocabulary(corpus, 96, 5).tolist()
    counts = np.bincount([t for a in corpus.answers() for t in a.answer], minlength=96)
    assert chosen == sorted(chosen) and counts[chosen].min() >= np.delete(counts, chosen).max()


def test_epochs_are_shuffled_by_seed_and_visit_answers_once():
    sizes = np.arange(50) % 13
    order = batch_order(sizes, 8, seed=1, epoch=0)
    seen = np.concatenate(order)
    assert len(seen) == 48 and len(set(seen.tolist())) == 48
    assert np.array_equal(seen, np.concatenate(batch_order(sizes, 8, seed=1, epoch=0)))
    assert not np.array_equal(seen, np.concatenate(batch_order(sizes, 8, seed=1, epoch=1)))


def test_a_batch_pairs_each_feature_with_the_token_and_feature_after_it(target, corpus, features):
    batch = make_batch(target, corpus, features, np.array([3]))
    ids = corpus.sequence(3).astype(np.int64)
    first = int(corpus.prompt_sizes[3]) - 1
    assert batch.rows.tolist() == list(range(first, len(ids) - 1))
    assert torch.equal(batch.embedded[0, :-1], target.embeddings[ids[1:]])
    own = features[corpus.starts[3] : corpus.starts[4]]
    assert torch.equal(batch.features[0], own) and torch.equal(batch.wanted, own[first + 1 :])


def test_the_loss_gradient_is_autograds(target):
    generator = torch.Generator().manual_seed(0)
    lm_head = torch.randn(40, 32, generator=generator)
    guesses = torch.randn(600, 32, generator=generator, requires_grad=True)
    teacher = teacher_probabilities(torch.randn(600, 32, generator=generator), lm_head)
    plain = -(teacher.float() * F.linear(guesses, lm_head).log_softmax(-1)).sum(-1).mean()
    (wanted,) = torch.autograd.grad(plain, guesses)
    loss = draft_loss(guesses, teacher, lm_head)
    (found,) = torch.autograd.grad(loss, guesses)
    torch.testing.assert_close(loss, plain)
    # The teacher is stored in bfloat16, so its rows sum to one only within a few thousandths.
    torch.testing.assert_close(found, wanted, atol=2e-5, rtol=2e-2)


def test_unrolled_steps_equal_drafting_with_the_engines_head(target, corpus, features):
    """Step s at row i is what the head says at depth s after a prefix pass over rows 0 .. i - s + 1."""
    checkpoint = random_checkpoint(target, torch.arange(64), seed=9)
    head, ids = Head(checkpoint, target), corpus.sequence(2).astype(np.int64)
    own = features[corpus.starts[2] : corpus.starts[3]].float()
    weights = {k: t for k, t in checkpoint.tensors.items() if t.is_floating_point()}
    batch = make_batch(target, corpus, features, np.array([2]))
    guesses = UnrolledEagle(head_shape(checkpoint), weights).guesses(batch.embedded, own[None], steps=4)
    for row in (5, 8):
        for step in range(1, 5):
            cache, known = head.new_cache(64), row - step + 2
            guess = head.forward(ids[1 : known + 1], own[:known], cache=cache)[-1:]
            for token in ids[known + 1 : row + 2]:
                guess = head.forward([token], guess, cache=cache)
            torch.testing.assert_close(guesses[step - 1][0, row], guess[0], atol=1e-4, rtol=1e-3)


def test_shifting_moves_rows_towards_the_end():
    assert shifted(torch.tensor([[1.0, 2.0, 3.0]]), 1).tolist() == [[0.0, 1.0, 2.0]]


def test_folding_the_input_scale_changes_nothing(target, corpus, features, tmp_path):
    trainer = Trainer(target, corpus, features, PLAN, tmp_path)
    raw = torch.randn(5, 64, generator=torch.Generator().manual_seed(0))
    scale = trainer.kind.scale
    unit = (raw - scale.mean) * scale.inverse
    folded = scale.fold(trainer.weights)
    wanted = F.linear(unit, trainer.weights["fc.weight"], trainer.weights["fc.bias"])
    torch.testing.assert_close(F.linear(raw, folded["fc.weight"], folded["fc.bias"]), wanted, atol=1e-4, rtol=1e-4)


def test_twenty_steps_lower_the_loss_and_publish_a_head(target, corpus, features, tmp_path):
    told = []
    trainer = Trainer(target, corpus, features, PLAN, tmp_path / "run")
    train(trainer, lambda text, share: told.append((text, share)), publish=tmp_path / "head")
    first, last = trainer.curve
    assert last["loss"] < first["loss"] and last["step"] == 20 and told[-1][1] == 1.0
    assert len(agreement(trainer)) == 4
    head = Head.load(tmp_path / "head", target)
    assert len(head.draft_tokens) == 64 and head.candidates(torch.zeros(1, 32), 3, [1]).tokens.shape == (1, 3)


def test_resuming_gives_the_same_weights_as_never_stopping(target, corpus, features, tmp_path):
    whole = Trainer(target, corpus, features, PLAN, tmp_path / "whole")
    for _ in range(9):
        whole.advance()
    stopped = Trainer(target, corpus, features, PLAN, tmp_path / "run")
    for _ in range(4):
        stopped.advance()
    stopped.save()
    resumed = Trainer(target, corpus, features, PLAN, tmp_path / "run")
    assert resumed.resume() and resumed.step == 4
    for _ in range(5):
        resumed.advance()
    for name, weight in whole.weights.items():
        torch.testing.assert_close(resumed.weights[name], weight, atol=0, rtol=0)
    assert not Trainer(target, corpus, features, PLAN, tmp_path / "new").resume()


def test_a_state_of_another_plan_is_not_gone_on_from(target, corpus, features, tmp_path):
    Trainer(target, corpus, features, PLAN, tmp_path).save()
    assert Trainer(target, corpus, features, replace(PLAN, steps=99), tmp_path).resume()
    with pytest.raises(ValueError, match="work: .* another corpus or plan"):
        Trainer(target, corpus, features, replace(PLAN, seed=1), tmp_path).resume()


def test_unrolling_begins_after_the_single_steps():
    plan = TrainPlan(single=3, unroll=2)
    assert [plan.depth(step) for step in (0, 2, 3)] == [1, 1, 2]


def test_rate_warms_up_and_ends_at_zero():
    plan = TrainPlan(steps=100, warmup=10)
    assert plan.rate(0) == pytest.approx(0.1) and plan.rate(100) == pytest.approx(0, abs=1e-12)
    assert max(plan.rate(s) for s in range(100)) <= 1


def test_bad_plans_and_small_corpora_are_one_sentence(target, corpus, features, tmp_path):
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        TrainPlan(steps=0)
    with pytest.raises(ValueError, match="need 144 answers, the corpus has 24"):
        Trainer(target, corpus, features, TrainPlan(), tmp_path)


def test_a_run_from_a_trained_head_starts_with_its_guesses_and_holds_out_later_answers(target, corpus, features, tmp_path):
    first = Trainer(target, corpus, features, PLAN, tmp_path / "first")
    for _ in range(5):
        first.advance()
    published = first.checkpoint()
    plan = replace(PLAN, held_out_from=8, draft_vocabulary=48)
    second = Trainer(target, corpus, features, plan, tmp_path / "second", published)
    assert second.held_out.min() == 8 and second.held_out.max() == len(corpus) - 1
    batch = make_batch(target, corpus, features, np.array([3]))
    before, after = (one.head().guesses(batch.embedded, batch.features, 3)[2].float() for one in (first, second))
    torch.testing.assert_close(after, before, atol=0.02, rtol=0.05)
    for name in ("fc.weight", "fc.bias"):
        torch.testing.assert_close(second.weights[name], first.weights[name], atol=1e-4, rtol=1e-4)
    second.save()
    with pytest.raises(ValueError, match="another corpus or plan"):
        Trainer(target, corpus, features, plan, tmp_path / "second").resume()


def test_a_head_of_another_shape_is_no_start(target, corpus, features, tmp_path):
    base = random_checkpoint(target, torch.arange(64), seed=1)
    wide = replace(base, tensors=dict(base.tensors) | {"layers.0.mlp.up_proj.weight": torch.zeros(8, 32)})
    with pytest.raises(ValueError, match="up_proj"):
        Trainer(target, corpus, features, PLAN, tmp_path, wide)


@pytest.fixture(scope="module")
def tapped(target, corpus, tmp_path_factory):
    """The features of the tiny corpus with the hidden states that an EAGLE-3 head reads."""
    path = tmp_path_factory.mktemp("tapped") / "features.bin"
    return compute_features(target, corpus, path, quiet, taps=eagle3_taps(3)).open()


def test_tapped_features_are_the_hidden_states_entering_those_layers(target, corpus, tapped):
    ids = corpus.sequence(5).astype(np.int64)
    rows, taps = tapped[corpus.starts[5] : corpus.starts[6]].float(), eagle3_taps(3)
    wanted = target.forward(ids, taps=taps)
    torch.testing.assert_close(rows, torch.cat([*wanted.taps, wanted.features], dim=-1), atol=0.02, rtol=0.02)


def test_unrolled_steps_equal_drafting_with_the_engines_eagle3_head(target, corpus, tapped):
    """Step s at row i is what the head's candidates are at depth s after a prefix pass over rows 0 .. i - s + 1."""
    checkpoint = random_eagle3_checkpoint(target, torch.arange(64), seed=9)
    head, ids = Head(checkpoint, target), corpus.sequence(2).astype(np.int64)
    own = tapped[corpus.starts[2] : corpus.starts[3], :-32].float()
    weights = {k: t for k, t in checkpoint.tensors.items() if t.is_floating_point()}
    batch = make_batch(target, corpus, tapped, np.array([2]))
    guesses = UnrolledEagle3(head_shape(checkpoint), weights).guesses(batch.embedded, own[None], steps=4)
    for row in (5, 8):
        for step in range(1, 5):
            cache, known = head.new_cache(64), row - step + 2
            guess = head.forward(ids[1 : known + 1], head.fuse(own[:known]), cache=cache)[-1:]
            for token in ids[known + 1 : row + 2]:
                guess = head.forward([token], guess, cache=cache)
            read = F.linear(guesses[step - 1][0, row], weights["lm_head.weight"])
            wanted = torch.cat([read, torch.zeros(1)]).softmax(-1)[:64]  # an untrained row for all other tokens has logit 0
            torch.testing.assert_close(head.probabilities(guess, [step])[0], wanted, atol=1e-5, rtol=1e-3)


def test_an_eagle3_head_learns_resumes_exactly_and_is_published(target, corpus, tapped, tmp_path):
    plan = replace(PLAN, kind="eagle3", unroll=3)
    whole = train(Trainer(target, corpus, tapped, plan, tmp_path / "whole"), quiet, publish=tmp_path / "head")
    first, last = whole.curve
    assert last["loss"] < first["loss"]
    stopped = Trainer(target, corpus, tapped, plan, tmp_path / "run")
    for _ in range(7):
        stopped.advance()
    stopped.save()
    resumed = Trainer(target, corpus, tapped, plan, tmp_path / "run")
    assert resumed.resume()
    train(resumed, quiet)
    for name, weight in whole.weights.items():
        torch.testing.assert_close(resumed.weights[name], weight, atol=0, rtol=0)
    assert len(Head.load(tmp_path / "head", target).draft_tokens) == 64


def test_attention_weights_are_a_distribution_over_the_rows_that_drafting_will_find():
    """Row 4 at step 3 sees true rows 0 .. 2 and two rows of its own chain, and nothing else."""
    generator = torch.Generator().manual_seed(3)
    q = torch.randn(1, 6, 2, 8, generator=generator)
    keys = [torch.randn(1, 6, 1, 8, generator=generator) for _ in range(3)]
    row = attention_weights(q, keys)[0, 0, 4]
    assert row[:3].min() > 0 and row[3:6].max() == 0 and row[6:].min() > 0
    assert float(row.sum()) == pytest.approx(1, abs=1e-5)


def test_readings_measure_what_a_hand_example_gives(target, corpus, tapped, tmp_path):
    """With equal keys row i spreads its attention evenly over the i + 1 rows that it sees."""
    trainer = Trainer(target, corpus, tapped, replace(PLAN, kind="eagle3"), tmp_path)
    with torch.no_grad():
        trainer.weights["midlayer.self_attn.q_proj.weight"].zero_()
    batch, _ = trainer.held_out_batches[0]
    (reading,) = trainer.head().readings(batch.embedded, batch.features, batch.rows, 1)
    seen = (batch.rows % batch.embedded.shape[1] + 1).float()
    assert reading.entropy == pytest.approx(float(seen.log().mean()), abs=0.02)
    assert reading.largest == pytest.approx(float((1 / seen).mean()), abs=0.01)


def test_lost_acceptance_and_its_gradients_are_autograds(target):
    """The mixture of cross-entropy and 1 - sum(min(p, q)), weighted by the acceptance reached, by guess and by lm_head."""
    generator = torch.Generator().manual_seed(4)
    lm_head = torch.randn(40, 32, generator=generator).requires_grad_()
    guesses = torch.randn(300, 32, generator=generator, requires_grad=True)
    teacher = teacher_probabilities(torch.randn(300, 32, generator=generator), torch.randn(40, 32, generator=generator))
    log_q = F.linear(guesses, lm_head).log_softmax(-1)
    accepted = torch.minimum(log_q.exp(), teacher.float()).sum(-1)
    share = torch.exp(-3 * accepted.detach())
    plain = (share * -(teacher.float() * log_q).sum(-1) + (1 - share) * (1 - accepted)).mean()
    loss = draft_loss(guesses, teacher, lm_head, sharpness=3.0)
    torch.testing.assert_close(loss, plain)
    for found, wanted in zip(
        torch.autograd.grad(loss, (guesses, lm_head)), torch.autograd.grad(plain, (guesses, lm_head)), strict=True
    ):
        torch.testing.assert_close(found, wanted, atol=2e-5, rtol=2e-2)


def test_an_unknown_kind_of_head_is_refused():
    with pytest.raises(ValueError, match="kind must be one of eagle, eagle3, got 'medusa'"):
        replace(PLAN, kind="medusa")


@pytest.mark.parametrize(
    "changes", [{"muon_rate": float("nan")}, {"step_weight": float("inf")}, {"feature_weight": -1}, {"seed": -1}, {"batch": 1}]
)
def test_a_plan_that_cannot_be_run_is_refused_by_name(changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        replace(PLAN, **changes)


def test_features_and_state_of_another_target_are_not_taken_for_this_ones(target, corpus, features, tmp_path):
    compute_features(target, corpus, tmp_path / "f.bin", quiet)
    Trainer(target, corpus, features, PLAN, tmp_path / "run").save()
    other = tiny_target(seed=5)
    assert other.digest != target.digest
    told = []
    compute_features(other, corpus, tmp_path / "f.bin", lambda stage, share: told.append(share))
    assert told
    with pytest.raises(ValueError, match="another corpus or plan"):
        Trainer(other, corpus, features, PLAN, tmp_path / "run").resume()


def test_a_corpus_of_another_vocabulary_is_refused(target, corpus):
    foreign = replace(corpus, tokens=corpus.tokens + np.uint16(60000))
    with pytest.raises(ValueError, match="^corpus: token"):
        check_corpus(foreign, PLAN, target)


def test_a_run_from_an_eagle3_head_keeps_its_draft_vocabulary(target, corpus, tapped, tmp_path):
    """The rows of its own lm_head stand for tokens: another corpus does not change which."""
    plan = replace(PLAN, kind="eagle3", draft_vocabulary=40)
    rare = torch.arange(7, 47)
    start = random_eagle3_checkpoint(target, rare, seed=3)
    trainer = Trainer(target, corpus, tapped, plan, tmp_path, start)
    assert trainer.vocabulary.tolist() == rare.tolist()
    torch.testing.assert_close(trainer.lm_head.float(), start.tensors["lm_head.weight"], atol=0.02, rtol=0.01)
    with pytest.raises(ValueError, match="draft_vocabulary: 48 given, but the head to start from has an lm_head of 40 tokens"):
        Trainer(target, corpus, tapped, replace(plan, draft_vocabulary=48), tmp_path, start)
