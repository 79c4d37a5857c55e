"""Training a draft head: seeded, resumable, one function.

Loss: SmoothL1 to the next feature plus soft cross-entropy through the frozen lm_head, summed over unrolled steps with
weight `step_weight ** i`. Matrices are optimised by Muon, vectors by AdamW; both follow one warm-up and cosine.
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

from eagle_viz.engine.checkpoint import HeadCheckpoint, check_head, tensor_digest, write_head
from eagle_viz.engine.head import head_shape, random_checkpoint
from eagle_viz.engine.target import Target
from eagle_viz.training.corpus import Corpus
from eagle_viz.training.data import Batch, batch_order, make_batch
from eagle_viz.training.features import draft_vocabulary
from eagle_viz.training.losses import soft_cross_entropy, teacher_probabilities
from eagle_viz.training.unrolled import UnrolledHead, Weights

Report = Callable[[str, float], None]
_FROZEN = ("other.weight", "other.bias", "d2t", "t2d")  # the first two are fitted afterwards, see calibration.py
_SILENT = ("layers.0.self_attn.o_proj.weight", "layers.0.mlp.down_proj.weight")


@dataclass(frozen=True)
class TrainPlan:
    """Everything that decides the trained weights, besides the corpus and the target.

    `steps` optimiser steps of `batch` answers, worked on in `shards` parallel parts; `unroll` steps of the head's own
    guesses, after the first `single` steps with one: half the cost while the head learns the basics. `held_out` answers,
    evenly spread over the corpus from answer `held_out_from` on, are never trained on. A run that starts from another run's head
    should hold out what that one has not seen: its agreement is too good otherwise.
    """

    steps: int = 2000
    batch: int = 16
    shards: int = 2
    unroll: int = 2
    single: int = 400
    step_weight: float = 0.8
    feature_weight: float = 0.3
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
        for field in asdict(self):
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


@dataclass(frozen=True)
class InputScale:
    """Mean and inverse deviation of the head's 2H inputs over a sample of the corpus.

    Embeddings are some fifteen times smaller than features; at unit scale the head sees both. The scale is folded into
    `fc`, so the published format stays as it is.
    """

    mean: Tensor
    inverse: Tensor

    def fold(self, weights: Weights) -> Weights:
        """The same weights for raw inputs: `fc(raw) == fc_unit((raw - mean) * inverse)`; differentiable."""
        matrix = weights["fc.weight"] * self.inverse
        return weights | {"fc.weight": matrix, "fc.bias": weights["fc.bias"] - matrix @ self.mean}

    def unfold(self, weights: Weights) -> Weights:
        """The other way: weights for unit-scaled inputs from those for raw ones."""
        bias = weights["fc.bias"] + weights["fc.weight"] @ self.mean
        return weights | {"fc.weight": weights["fc.weight"] / self.inverse, "fc.bias": bias}


def linear_start(target: Target, corpus: Corpus, features: Tensor, scale: InputScale, sample: int = 20000) -> Weights:
    """`fc` as the least-squares guess of the next feature from unit-scaled inputs.

    A random `fc` spends the first tenth of a short training on learning what this closed form knows.
    """
    rows = torch.linspace(0, len(features) - 2, min(sample, len(features) - 1)).long()
    rows = rows[~torch.isin(rows + 1, torch.from_numpy(corpus.starts))]
    embedded = target.embeddings[torch.from_numpy(corpus.tokens[rows.numpy() + 1].astype(np.int64))]
    inputs = (torch.cat([embedded.float(), features[rows].float()], dim=-1) - scale.mean) * scale.inverse
    inputs = torch.cat([inputs, torch.ones(len(inputs), 1)], dim=-1)
    ridge = 1e-3 * len(inputs) * torch.eye(inputs.shape[1])
    solution = torch.linalg.solve(inputs.T @ inputs + ridge, inputs.T @ features[rows + 1].float())
    return {"fc.weight": solution[:-1].T.contiguous(), "fc.bias": solution[-1].clone()}


def input_scale(target: Target, corpus: Corpus, features: Tensor, sample: int = 20000) -> InputScale:
    """Measure the inputs on `sample` evenly spaced tokens."""
    rows = torch.linspace(0, len(features) - 1, min(sample, len(features))).long()
    embedded = target.embeddings[torch.from_numpy(corpus.tokens[rows.numpy()].astype(np.int64))]
    inputs = torch.cat([embedded.float(), features[rows].float()], dim=-1)
    return InputScale(inputs.mean(0), 1 / inputs.std(0).clamp_min(1e-6))


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
        vocabulary = draft_vocabulary(corpus, target.vocabulary, min(plan.draft_vocabulary, target.vocabulary))
        self.base = random_checkpoint(target, vocabulary, plan.seed)
        self.lm_head = target.lm_head_weight[vocabulary].to(torch.bfloat16)
        self.vocabulary, self._shape = vocabulary, head_shape(self.base)
        self._pool = ThreadPoolExecutor(plan.shards)
        self.scale = input_scale(target, corpus, features)
        first = self._from_head(start) if start else self._start()
        self.weights: Weights = {k: first[k].clone().requires_grad_() for k in first if k not in _FROZEN}
        self.held_out = np.linspace(plan.held_out_from, len(corpus) - 1, plan.held_out).astype(np.int64)
        self.trained_on = np.setdiff1d(np.arange(len(corpus)), self.held_out)
        self.optimizers = _optimizers(self.weights, plan)
        self.step, self.tokens, self.curve = 0, 0, []
        self._orders: dict[int, list[np.ndarray]] = {}

    def _start(self) -> Weights:
        """Random matrices by seed, `fc` in closed form, and a layer that adds nothing to it yet."""
        fc = linear_start(self.target, self.corpus, self.features, self.scale)
        silent = {k: torch.zeros_like(self.base.tensors[k]) for k in _SILENT}
        return dict(self.base.tensors) | silent | fc

    def _from_head(self, start: HeadCheckpoint) -> Weights:
        """A trained head's weights; its draft vocabulary and what was fitted after its training are not taken over."""
        check_head(start, self.target.hidden, self.target.vocabulary)
        taken = {k: start.tensors[k].float() for k in self.base.tensors if k not in _FROZEN}
        for key, tensor in taken.items():
            if tensor.shape != self.base.tensors[key].shape:
                wanted, found = list(self.base.tensors[key].shape), list(tensor.shape)
                raise ValueError(f"start: key {key!r} of {start.source} has shape {found}, this training needs {wanted}")
        return self.scale.unfold(taken)

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
        teacher = teacher_probabilities(batch.wanted.to(torch.bfloat16), self.lm_head)
        guesses = self.head().guesses(batch.embedded, batch.features, self.plan.depth(self.step))
        total = torch.zeros(())
        for depth, guess in enumerate(guesses):
            rows = guess.flatten(0, 1)[batch.rows]
            distance = F.smooth_l1_loss(rows.float(), batch.wanted.float())
            entropy = soft_cross_entropy(rows, teacher, self.lm_head)
            total = total + self.plan.step_weight**depth * (self.plan.feature_weight * distance + entropy)
        return total

    def head(self) -> UnrolledHead:
        """The head in bfloat16, differentiable in `weights`."""
        weights = {k: w.to(torch.bfloat16) for k, w in self.scale.fold(self.weights).items()}
        return UnrolledHead(self._shape, weights)

    def checkpoint(self) -> HeadCheckpoint:
        """The head as it is now, in the published format."""
        with torch.no_grad():
            tensors = dict(self.base.tensors) | {k: w.detach().clone() for k, w in self.scale.fold(self.weights).items()}
        return HeadCheckpoint(self.base.config, tensors, "head in training")

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


def _optimizers(weights: Weights, plan: TrainPlan) -> list[torch.optim.Optimizer]:
    """One Muon a matrix, and one AdamW for all vectors."""
    matrices = [w for w in weights.values() if w.dim() == 2]
    vectors = [w for w in weights.values() if w.dim() != 2]
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
    head = trainer.head()
    for batch, wanted in trainer.held_out_batches:
        guesses = head.guesses(batch.embedded, batch.features, steps)
        for step, guess in enumerate(guesses):
            rows = guess.flatten(0, 1)[batch.rows]
            right[step] += int((trainer.vocabulary[F.linear(rows, trainer.lm_head).argmax(-1)] == wanted).sum())
        total += len(batch.rows)
    return [r / total for r in right]


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
    trainer.curve.append({"step": trainer.step, "tokens": trainer.tokens, "loss": loss, "agreement": shares})
    trainer.save()
    text = " / ".join(f"{share:.3f}" for share in shares)
    report(
        f"train: step {trainer.step}, {trainer.tokens} tokens, loss {loss:.3f}, agreement {text}, {pace}",
        trainer.step / trainer.plan.steps,
    )
