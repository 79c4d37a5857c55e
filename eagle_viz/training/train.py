"""Training a draft head of either kind: seeded, resumable, one function.

The kind's loss (see `kinds`), summed over unrolled steps with weight `step_weight ** i`. The layer's matrices are optimised by
Muon, vectors and an lm_head of the head's own by AdamW; both follow one warm-up and cosine.
"""

import json
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor

from eagle_viz.engine.checkpoint import HeadCheckpoint, tensor_digest, write_head
from eagle_viz.engine.head_rules import draft_tokens
from eagle_viz.engine.target import Target
from eagle_viz.training.corpus import Corpus
from eagle_viz.training.data import Batch, batch_order, make_batch
from eagle_viz.training.features import draft_vocabulary
from eagle_viz.training.kinds import KINDS
from eagle_viz.training.losses import teacher_probabilities
from eagle_viz.training.readings import readings_sentence
from eagle_viz.training.unrolled import Reading, UnrolledHead, Weights

Report = Callable[[str, float], None]


@dataclass(frozen=True)
class TrainPlan:
    """Everything that decides the trained weights, besides the corpus and the target.

    `kind` of head: "eagle" (EAGLE-1/2) or "eagle3". `acceptance_sharpness` above 0 trains for acceptance where the head is good
    already (see `losses.draft_loss`); `feature_weight` is EAGLE-1/2's alone.
    `steps` optimiser steps of `batch` answers, worked on in `shards` parallel parts; `unroll` steps of the head's own
    guesses, after the first `single` steps with one: half the cost while the head learns the basics. `held_out` answers,
    evenly spread over the corpus from answer `held_out_from` on, are never trained on. A run that starts from another run's head
    should hold out what that one has not seen: its agreement is too good otherwise.
    """

    kind: str = "eagle"
    steps: int = 2000
    batch: int = 16
    shards: int = 2
    unroll: int = 2
    single: int = 400
    step_weight: float = 0.8
    feature_weight: float = 0.3
    acceptance_sharpness: float = 0.0
    muon_rate: float = 3e-3
    adam_rate: float = 1e-3
    weight_decay: float = 0.1
    warmup: int = 40
    draft_vocabulary: int = 8192
    held_out: int = 128
    held_out_from: int = 0
    seed: int = 0
    evaluate_every: int = 200

    def __post_init__(self):
        for field in ("steps", "batch", "shards", "unroll", "warmup", "draft_vocabulary", "held_out", "evaluate_every"):
            if getattr(self, field) < 1:
                raise ValueError(f"{field} must be at least 1, got {getattr(self, field)}")
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        for field in asdict(self).keys() - {"kind"}:
            if not 0 <= getattr(self, field) < math.inf:
                raise ValueError(f"{field} must be a number from 0 on, got {getattr(self, field)}")
        if self.shards > self.batch:
            raise ValueError(f"shards must be at most the batch, {self.batch}, got {self.shards}")

    def depth(self, step: int) -> int:
        """Unrolled steps of the head's own guesses at optimiser step `step`."""
        return 1 if step < self.single else self.unroll

    def rate(self, step: int) -> float:
        """The share of the full learning rate at `step`: linear warm-up, then a cosine to zero at `steps`."""
        return min(1.0, (step + 1) / self.warmup) * 0.5 * (1 + math.cos(math.pi * min(1.0, step / self.steps)))


class Trainer:
    """One training run in a folder: weights, optimisers, the step reached, and the curve measured so far.

    `start`: a trained head of the same shape to go on from, in place of the closed form.
    """

    def __init__(
        self,
        target: Target,
        corpus: Corpus,
        features: Tensor,
        plan: TrainPlan,
        folder: Path,
        start: HeadCheckpoint | None = None,
    ):
        check_corpus(corpus, plan, target)
        self.target, self.corpus, self.features, self.plan, self.folder = target, corpus, features, plan, folder
        self.started_from = start
        vocabulary = _vocabulary(target, corpus, plan, start)
        self.kind = KINDS[plan.kind](target, corpus, features, vocabulary, plan)
        self.vocabulary = vocabulary
        self._pool = ThreadPoolExecutor(plan.shards)
        first = self.kind.taken(start) if start else self.kind.start()
        self.weights: Weights = {k: w.clone().requires_grad_() for k, w in first.items()}
        self.held_out = np.linspace(plan.held_out_from, len(corpus) - 1, plan.held_out).astype(np.int64)
        self.trained_on = np.setdiff1d(np.arange(len(corpus)), self.held_out)
        self.optimizers = _optimizers(self.weights, plan)
        self.step, self.tokens, self.curve = 0, 0, []
        self._orders: dict[int, list[np.ndarray]] = {}

    @property
    def lm_head(self) -> Tensor:
        """The matrix [D, H] that reads what the head says, bfloat16."""
        return self.kind.lm_head(self.weights).detach()

    def batch(self, step: int) -> list[Batch]:
        """The batch of one optimiser step in `shards` parts: a function of the plan and of `step`."""
        per_epoch = len(self.trained_on) // self.plan.batch
        epoch = step // per_epoch
        if epoch not in self._orders:
            sizes = np.diff(self.corpus.starts)[self.trained_on]
            self._orders = {epoch: batch_order(sizes, self.plan.batch, self.plan.seed, epoch)}
        shards = np.array_split(self.trained_on[self._orders[epoch][step % per_epoch]], self.plan.shards)
        return [make_batch(self.target, self.corpus, self.features, shard) for shard in shards]

    @cached_property
    def held_out_batches(self) -> list[tuple[Batch, Tensor]]:
        """The held-out answers, and the target's most likely token (of the whole vocabulary) where each row guesses."""
        batches = []
        for part in np.array_split(self.held_out, max(1, self.plan.held_out // self.plan.batch)):
            batch = make_batch(self.target, self.corpus, self.features, part)
            rows = batch.wanted.to(self.target.dtype).split(256)
            batches.append((batch, torch.cat([self.target.logits(r).float().argmax(-1) for r in rows])))
        return batches

    def advance(self) -> float:
        """One optimiser step; returns its loss."""
        shards = self.batch(self.step)
        rows = sum(len(shard.rows) for shard in shards)
        # Two threads with one half each wait for one another once a step; two threads in every operation, thousands of times.
        results = list(self._pool.map(lambda shard: self._gradients(shard, len(shard.rows) / rows), shards))
        for name, weight in self.weights.items():
            weight.grad = sum(gradients[name] for _, gradients in results)
        # A third of a short step is Muon's products of matrices, so the matrices take turns on the threads as well.
        list(self._pool.map(self._optimize, self.optimizers))
        self.step, self.tokens = self.step + 1, self.tokens + rows
        return sum(loss for loss, _ in results)

    def _optimize(self, optimizer: torch.optim.Optimizer) -> None:
        for group in optimizer.param_groups:
            group["lr"] = group["full_rate"] * self.plan.rate(self.step)
        optimizer.step()
        optimizer.zero_grad()

    def _gradients(self, shard: Batch, share: float) -> tuple[float, Weights]:
        loss = self._loss(shard) * share
        gradients = torch.autograd.grad(loss, list(self.weights.values()))
        return loss.item(), dict(zip(self.weights, gradients, strict=True))

    def _loss(self, batch: Batch) -> Tensor:
        teacher = teacher_probabilities(batch.wanted.to(torch.bfloat16), self.kind.teacher_head)
        lm_head = self.kind.lm_head(self.weights)
        guesses = self.head().guesses(batch.embedded, batch.features, self.plan.depth(self.step))
        total = torch.zeros(())
        for depth, guess in enumerate(guesses):
            step = self.kind.loss(guess.flatten(0, 1)[batch.rows], batch.wanted, teacher, lm_head)
            total = total + self.plan.step_weight**depth * step
        return total

    def head(self) -> UnrolledHead:
        """The head in bfloat16, differentiable in `weights`."""
        return self.kind.unrolled(self.weights)

    def checkpoint(self) -> HeadCheckpoint:
        """The head as it is now, in the published format."""
        with torch.no_grad():
            trained = {k: w.detach().clone() for k, w in self.kind.published(self.weights).items()}
        return HeadCheckpoint(self.kind.base.config, dict(self.kind.base.tensors) | trained, "head in training")

    def save(self) -> None:
        """Keep weights, optimisers and the step in the folder, replacing what was there in one move."""
        tensors = {f"weights/{k}": w.detach() for k, w in self.weights.items()}
        for number, optimizer in enumerate(self.optimizers):
            for index, state in optimizer.state_dict()["state"].items():
                tensors |= {f"optimizer/{number}/{index}/{k}": torch.as_tensor(v) for k, v in state.items()}
        reached = {"step": self.step, "tokens": self.tokens, "curve": self.curve}
        note = json.dumps(reached | {"plan": asdict(self.plan), "made_from": self.made_from()})
        self.folder.mkdir(parents=True, exist_ok=True)
        save_file({k: t.contiguous() for k, t in tensors.items()}, self.folder / "state.partial", metadata={"note": note})
        os.replace(self.folder / "state.partial", self.folder / "state.safetensors")

    def made_from(self) -> dict:
        """What a state must share with this run to be gone on from: corpus, plan (its length aside), and the optimisers' number."""
        free = ("steps", "evaluate_every")
        plan = {k: v for k, v in asdict(self.plan).items() if k not in free}
        made = {"corpus": self.corpus.digest, "target": self.target.digest, "plan": plan, "optimizers": len(self.optimizers)}
        return made | ({"start": tensor_digest(self.started_from.tensors)} if self.started_from else {})

    def resume(self) -> bool:
        """Go on from the folder's state, if there is one; raises ValueError where it is of another corpus or plan."""
        path = self.folder / "state.safetensors"
        if not path.exists():
            return False
        tensors, note = load_file(path), _read_note(path)
        if note.get("made_from") != self.made_from():
            raise ValueError(
                f"work: {str(self.folder)!r} holds a training of another corpus or plan; name another folder or empty it"
            )
        self.step, self.tokens, self.curve = note["step"], note["tokens"], note["curve"]
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(tensors[f"weights/{name}"])
        for number, optimizer in enumerate(self.optimizers):
            _restore(optimizer, tensors, f"optimizer/{number}/")
        return True


def _vocabulary(target: Target, corpus: Corpus, plan: TrainPlan, start: HeadCheckpoint | None) -> Tensor:
    """The draft vocabulary [D]: the corpus's most frequent tokens, or the start's where its lm_head's rows stand for tokens.

    Raises ValueError where the plan asks for another size than the start has.
    """
    size = min(plan.draft_vocabulary, target.vocabulary)
    if start is None or "lm_head.weight" not in start.tensors:
        return draft_vocabulary(corpus, target.vocabulary, size)
    found = draft_tokens(start, target.vocabulary)
    if len(found) != size:
        raise ValueError(f"draft_vocabulary: {size} given, but the head to start from has an lm_head of {len(found)} tokens")
    return found


def _optimizers(weights: Weights, plan: TrainPlan) -> list[torch.optim.Optimizer]:
    """One Muon a matrix of the layer, and one AdamW for all vectors and the lm_head.

    Muon moves every direction of a matrix alike, which an lm_head of mostly rare tokens is not made for.
    """
    matrices = [w for name, w in weights.items() if w.dim() == 2 and name != "lm_head.weight"]
    vectors = [w for name, w in weights.items() if w.dim() != 2 or name == "lm_head.weight"]
    muons = [torch.optim.Muon([m], plan.muon_rate, plan.weight_decay, adjust_lr_fn="match_rms_adamw") for m in matrices]
    adam = torch.optim.AdamW(vectors, plan.adam_rate, betas=(0.9, 0.95), weight_decay=0.0)
    for optimizer in (*muons, adam):
        for group in optimizer.param_groups:
            group["full_rate"] = group["lr"]
    return [*muons, adam]


def _restore(optimizer: torch.optim.Optimizer, tensors: Weights, prefix: str) -> None:
    saved = optimizer.state_dict()
    saved["state"] = {}
    for name, tensor in tensors.items():
        if name.startswith(prefix):
            index, key = name.removeprefix(prefix).split("/")
            saved["state"].setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict(saved)


def _read_note(path: Path) -> dict:
    from safetensors import safe_open

    with safe_open(path, "pt") as stored:
        return json.loads(stored.metadata()["note"])


def check_corpus(corpus: Corpus, plan: TrainPlan, target: Target) -> None:
    """Raise ValueError for a corpus too small for the plan, or of another vocabulary than the target's."""
    need = max(plan.held_out_from, plan.batch) + plan.held_out
    if len(corpus) < need:
        raise ValueError(f"held_out, held_out_from and batch need {need} answers, the corpus has {len(corpus)}")
    largest = int(corpus.tokens.max())
    if largest >= target.vocabulary:
        raise ValueError(f"corpus: token {largest} is in it, this target knows 0 to {target.vocabulary - 1}")


@torch.no_grad()
def agreement(trainer: Trainer, steps: int = 4) -> list[float]:
    """Share of held-out rows whose most likely token is the target's argmax (whole vocabulary), for steps 1 .. `steps`."""
    right, total = [0] * steps, 0
    head, lm_head = trainer.head(), trainer.lm_head
    for batch, wanted in trainer.held_out_batches:
        guesses = head.guesses(batch.embedded, batch.features, steps)
        for step, guess in enumerate(guesses):
            rows = guess.flatten(0, 1)[batch.rows]
            right[step] += int((trainer.vocabulary[F.linear(rows, lm_head).argmax(-1)] == wanted).sum())
        total += len(batch.rows)
    return [r / total for r in right]


@torch.no_grad()
def held_out_readings(trainer: Trainer, steps: int = 6) -> list[Reading]:
    """Attention and state of steps 1 .. `steps` on the first held-out batch: dead attention and growing states show here."""
    batch, _ = trainer.held_out_batches[0]
    return trainer.head().readings(batch.embedded, batch.features, batch.rows, steps)


def train(trainer: Trainer, report: Report, publish: Path | None = None, stop_at: float = math.inf) -> Trainer:
    """Run (or go on with) training to its last step; saves at every evaluation and publishes the head to `publish`.

    Stops early, saved, when `time.time()` passes `stop_at`.
    """
    plan, began, first = trainer.plan, time.time(), trainer.step
    recent: list[float] = []
    while trainer.step < plan.steps and time.time() < stop_at:
        recent.append(trainer.advance())
        if trainer.step % plan.evaluate_every == 0 or trainer.step == plan.steps:
            pace = (time.time() - began) / (trainer.step - first)
            loss, recent = sum(recent) / len(recent), []
            _evaluate(trainer, loss, report, f"{pace:.2f} s/step")
            if publish is not None:
                write_head(publish, trainer.checkpoint())
    trainer.save()
    return trainer


def _evaluate(trainer: Trainer, loss: float, report: Report, pace: str) -> None:
    shares = agreement(trainer)
    readings = held_out_readings(trainer)
    point = {"step": trainer.step, "tokens": trainer.tokens, "loss": loss, "agreement": shares}
    trainer.curve.append(point | {"readings": [asdict(reading) for reading in readings]})
    trainer.save()
    text = " / ".join(f"{share:.3f}" for share in shares)
    report(
        f"train: step {trainer.step}, {trainer.tokens} tokens, loss {loss:.3f}, agreement {text}; "
        f"{readings_sentence(readings)}; {pace}",
        trainer.step / trainer.plan.steps,
    )
