"""The two kinds of head that can be trained: what each reads of the target, where it starts, and how its loss is made.

A kind knows nothing of steps or optimisers; `train.Trainer` knows nothing of what a head looks like inside.
Symbols: H hidden, D draft vocabulary, N rows.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from eagle_viz.engine.checkpoint import OTHER_ROW, HeadCheckpoint
from eagle_viz.engine.head import eagle3_taps, head_shape, random_checkpoint, random_eagle3_checkpoint
from eagle_viz.engine.head_rules import check_head
from eagle_viz.engine.target import Target
from eagle_viz.training.corpus import Corpus
from eagle_viz.training.losses import draft_loss
from eagle_viz.training.unrolled import UnrolledEagle, UnrolledEagle3, UnrolledHead, Weights

if TYPE_CHECKING:
    from eagle_viz.training.train import TrainPlan

_FROZEN = (*OTHER_ROW, "d2t", "t2d")
_SILENT = ("layers.0.self_attn.o_proj.weight", "layers.0.mlp.down_proj.weight")
_RIDGE = 1e-3
_SAMPLE = 20000  # evenly spaced tokens are enough to measure scales and to solve for the closed form


@dataclass(frozen=True)
class InputScale:
    """Mean and inverse deviation of what `fc` reads, over a sample of the corpus.

    Embeddings are some fifteen times smaller than features, and single dimensions of hidden states are much larger than the
    others; at unit scale the head sees them all. The scale is folded into `fc`, so the published format stays as it is.
    """

    mean: Tensor
    inverse: Tensor

    @classmethod
    def of(cls, inputs: Tensor) -> "InputScale":
        """Measured on inputs [n, columns]."""
        return cls(inputs.mean(0), 1 / inputs.std(0).clamp_min(1e-6))

    def fold(self, weights: Weights) -> Weights:
        """The same weights for raw inputs: `fc(raw) == fc_unit((raw - mean) * inverse)`; differentiable."""
        matrix = weights["fc.weight"] * self.inverse
        return weights | {"fc.weight": matrix, "fc.bias": weights["fc.bias"] - matrix @ self.mean}

    def unfold(self, weights: Weights) -> Weights:
        """The other way: weights for unit-scaled inputs from those for raw ones."""
        bias = weights["fc.bias"] + weights["fc.weight"] @ self.mean
        return weights | {"fc.weight": weights["fc.weight"] / self.inverse, "fc.bias": bias}


class Kind(ABC):
    """One kind of head over one corpus: `base` an untrained checkpoint, `lm_head` the target's rows of the draft vocabulary."""

    name: str

    def __init__(self, target: Target, corpus: Corpus, features: Tensor, vocabulary: Tensor, plan: "TrainPlan"):
        self.target, self.plan, self.vocabulary = target, plan, vocabulary
        self.base = self._untrained()
        self.teacher_head = target.lm_head_weight[vocabulary].to(torch.bfloat16)
        self._sample = _sample(target, corpus, features)

    @staticmethod
    @abstractmethod
    def taps(target: Target) -> tuple[int, ...]:
        """The target layers whose entering hidden states the head reads; none: the final feature."""

    @abstractmethod
    def _untrained(self) -> HeadCheckpoint:
        """A random checkpoint of this kind, by the plan's seed."""

    @abstractmethod
    def start(self) -> Weights:
        """Where training begins without a head to go on from."""

    @abstractmethod
    def published(self, weights: Weights) -> Weights:
        """Training's weights as the published format has them; differentiable."""

    @abstractmethod
    def trainable(self, published: Weights) -> Weights:
        """The other way: training's weights from published ones."""

    @abstractmethod
    def unrolled(self, weights: Weights) -> UnrolledHead:
        """The head in bfloat16, differentiable in `weights`."""

    @abstractmethod
    def lm_head(self, weights: Weights) -> Tensor:
        """The matrix [D, H] that turns what the head says into draft logits, bfloat16."""

    @abstractmethod
    def loss(self, rows: Tensor, wanted: Tensor, teacher: Tensor, lm_head: Tensor) -> Tensor:
        """Loss of one unrolled step: the head's rows [N, H] against the target's features [N, H] and distribution [N, D]."""

    def taken(self, start: HeadCheckpoint) -> Weights:
        """A trained head's weights to go on from; its draft vocabulary and what was fitted after its training are left out.

        Raises HeadError or ValueError for a head of another kind or shape.
        """
        check_head(start, self.target.hidden, self.target.vocabulary)
        if start.config.get("norm_before_residual"):
            raise ValueError(f"start: norm_before_residual of {start.source} is True, allowed is False")
        untrained = sorted(start.tensors.keys() - self.base.tensors.keys())
        if untrained:
            raise ValueError(f"start: key {untrained[0]!r} of {start.source} would be left out; this training has no such tensor")
        taken = {}
        for key, tensor in self.base.tensors.items():
            if key in _FROZEN:
                continue
            found = list(start.tensors[key].shape) if key in start.tensors else "no such key"
            if found != list(tensor.shape):
                raise ValueError(
                    f"start: key {key!r} of {start.source} has shape {found}, this training needs {list(tensor.shape)}"
                )
            taken[key] = start.tensors[key].float()
        return self.trainable(taken)

    def _started(self, changes: Weights) -> Weights:
        """The untrained checkpoint's weights with these in their place."""
        return {k: t for k, t in (dict(self.base.tensors) | changes).items() if k not in _FROZEN}


class Eagle(Kind):
    """EAGLE-1/2: reads embedding and final feature, guesses the next feature, borrows the target's lm_head."""

    name = "eagle"

    def __init__(self, target: Target, corpus: Corpus, features: Tensor, vocabulary: Tensor, plan: "TrainPlan"):
        super().__init__(target, corpus, features, vocabulary, plan)
        embedded, features, _ = self._sample
        self.scale = InputScale.of(torch.cat([embedded, features], dim=-1))

    @staticmethod
    def taps(target: Target) -> tuple[int, ...]:
        return ()

    def _untrained(self) -> HeadCheckpoint:
        return random_checkpoint(self.target, self.vocabulary, self.plan.seed)

    def start(self) -> Weights:
        """Random matrices by seed, `fc` the least-squares guess of the next feature, and a layer that adds nothing to it yet.

        A random `fc` spends the first tenth of a short training on learning what this closed form knows.
        """
        embedded, features, following = self._sample
        inputs = (torch.cat([embedded, features], dim=-1) - self.scale.mean) * self.scale.inverse
        solution = _least_squares(torch.cat([inputs, torch.ones(len(inputs), 1)], dim=-1), following)
        fc = {"fc.weight": solution[:-1].T.contiguous(), "fc.bias": solution[-1].clone()}
        return self._started({k: torch.zeros_like(self.base.tensors[k]) for k in _SILENT} | fc)

    def published(self, weights: Weights) -> Weights:
        return self.scale.fold(weights)

    def trainable(self, published: Weights) -> Weights:
        return self.scale.unfold(published)

    def unrolled(self, weights: Weights) -> UnrolledHead:
        return UnrolledEagle(head_shape(self.base), _bfloat16(self.published(weights)))

    def lm_head(self, weights: Weights) -> Tensor:
        return self.teacher_head

    def loss(self, rows: Tensor, wanted: Tensor, teacher: Tensor, lm_head: Tensor) -> Tensor:
        distance = F.smooth_l1_loss(rows.float(), wanted.float())
        return self.plan.feature_weight * distance + draft_loss(rows, teacher, lm_head, self.plan.acceptance_sharpness)


class Eagle3(Kind):
    """EAGLE-3: reads hidden states of three layers, fused once, and has an lm_head of its own; no feature loss."""

    name = "eagle3"

    def __init__(self, target: Target, corpus: Corpus, features: Tensor, vocabulary: Tensor, plan: "TrainPlan"):
        super().__init__(target, corpus, features, vocabulary, plan)
        self._inverse = InputScale.of(self._sample[1]).inverse

    @staticmethod
    def taps(target: Target) -> tuple[int, ...]:
        return eagle3_taps(target.config.num_hidden_layers)

    def _untrained(self) -> HeadCheckpoint:
        return random_eagle3_checkpoint(self.target, self.vocabulary, self.plan.seed)

    def start(self) -> Weights:
        """Random matrices by seed, `fc` the least-squares guess of the next feature, the target's lm_head rows and their scale.

        The layer speaks from the start: one that begins silent learns to read a single row (attention that moves nothing gets no
        gradient to move elsewhere).
        """
        _, features, following = self._sample
        fc = {"fc.weight": _least_squares(features * self._inverse, following).T.contiguous()}
        scale = following.square().mean().sqrt()
        norm = {"norm.weight": torch.full((self.target.hidden,), float(scale))}
        return self._started(fc | norm | {"lm_head.weight": self.teacher_head.float()})

    def published(self, weights: Weights) -> Weights:
        return weights | {"fc.weight": weights["fc.weight"] * self._inverse}

    def trainable(self, published: Weights) -> Weights:
        return published | {"fc.weight": published["fc.weight"] / self._inverse}

    def unrolled(self, weights: Weights) -> UnrolledHead:
        return UnrolledEagle3(head_shape(self.base), _bfloat16(self.published(weights)))

    def lm_head(self, weights: Weights) -> Tensor:
        return weights["lm_head.weight"].to(torch.bfloat16)

    def loss(self, rows: Tensor, wanted: Tensor, teacher: Tensor, lm_head: Tensor) -> Tensor:
        return draft_loss(rows, teacher, lm_head, self.plan.acceptance_sharpness)


KINDS: dict[str, type[Kind]] = {kind.name: kind for kind in (Eagle, Eagle3)}


def _bfloat16(weights: Weights) -> Weights:
    return {k: w.to(torch.bfloat16) for k, w in weights.items()}


def _sample(target: Target, corpus: Corpus, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Evenly spaced tokens that have one after them: its embedding, what the head reads at the token, and the next feature."""
    rows = torch.linspace(0, len(features) - 2, min(_SAMPLE, len(features) - 1)).long()
    rows = rows[~torch.isin(rows + 1, torch.from_numpy(corpus.starts))]
    embedded = target.embeddings[torch.from_numpy(corpus.tokens[rows.numpy() + 1].astype(np.int64))].float()
    read = features[rows].float()
    tapped = read[:, : -target.hidden]
    return embedded, tapped if tapped.shape[1] else read, features[rows + 1][:, -target.hidden :].float()


def _least_squares(inputs: Tensor, wanted: Tensor) -> Tensor:
    ridge = _RIDGE * len(inputs) * torch.eye(inputs.shape[1])
    return torch.linalg.solve(inputs.T @ inputs + ridge, inputs.T @ wanted)
