"""Making a head's confidences mean what they say: one temperature per depth, and a row for all other tokens.

The draft vocabulary leaves tokens out, and a young head is too sure of itself where the text is unlike its corpus. Both
are mended after training, on answers to prompts of other kinds (`unseen.py`), without touching what the head has learned:
its order of candidates stays.
Symbols: N rows, D draft vocabulary, H hidden.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from eagle_viz.engine.checkpoint import HeadCheckpoint
from eagle_viz.engine.target import Target
from eagle_viz.training.corpus import Corpus
from eagle_viz.training.data import make_batch
from eagle_viz.training.features import corpus_features
from eagle_viz.training.sampler import Answer, sample_batch
from eagle_viz.training.train import Trainer
from eagle_viz.training.unseen import PROMPTS

BINS = 15
TEMPERATURES = (0.0, 0.7, 1.0)


@dataclass(frozen=True)
class Unseen:
    """Answers that the head was not trained on, with what it reads of the target at their tokens (see `FeatureStore`)."""

    corpus: Corpus
    features: Tensor


@dataclass(frozen=True)
class HeldOut:
    """What the head guesses at one depth on unseen rows: guesses [N, H], and the target's truth [N, D + 1].

    The last column of `truth` is the probability of all tokens outside the draft vocabulary together.
    """

    guesses: Tensor
    truth: Tensor


def unseen_answers(target: Target, taps: tuple[int, ...] = (), limit: int = 160, seed: int = 7) -> Unseen:
    """Answers of at most `limit` tokens to the prompts of `unseen.py` at three temperatures."""
    prompts = [target.encode_chat(p) for p in PROMPTS for _ in TEMPERATURES]
    temperatures = list(TEMPERATURES) * len(PROMPTS)
    answers = sample_batch(target, prompts, temperatures, limit, seed)
    triples = zip(prompts, answers, temperatures, strict=True)
    corpus = Corpus.of([Answer(tuple(p), tuple(a), t) for p, a, t in triples])
    return Unseen(corpus, corpus_features(target, corpus, taps=taps))


@torch.no_grad()
def held_out_rows(trainer: Trainer, unseen: Unseen, answers: np.ndarray, depths: int, rows: int) -> list[HeldOut]:
    """About `rows` evenly spaced rows of these answers, for each depth 1 .. `depths`."""
    head = trainer.head()
    guesses: list[list[Tensor]] = [[] for _ in range(depths)]
    wanted = []
    for part in np.array_split(answers, max(1, len(answers) // trainer.plan.batch)):
        batch = make_batch(trainer.target, unseen.corpus, unseen.features, part)
        for depth, guess in enumerate(head.guesses(batch.embedded, batch.features, depths)):
            guesses[depth].append(guess.flatten(0, 1)[batch.rows].float())
        wanted.append(batch.wanted)
    wanted = torch.cat(wanted)
    chosen = torch.linspace(0, len(wanted) - 1, min(rows, len(wanted))).long()
    truth = _truth(trainer, wanted[chosen])
    return [HeldOut(torch.cat(g)[chosen], truth) for g in guesses]


def _truth(trainer: Trainer, features: Tensor) -> Tensor:
    """The target's distribution with everything outside the draft vocabulary summed up, [N, D + 1] float32."""
    parts = []
    for rows in features.split(256):
        inside = trainer.target.logits(rows.to(trainer.target.dtype)).float().softmax(-1)[:, trainer.vocabulary]
        parts.append(torch.cat([inside, (1 - inside.sum(-1, keepdim=True)).clamp_min(0)], dim=-1))
    return torch.cat(parts)


class _Fit(torch.nn.Module):
    """The few numbers that are fitted: log temperatures per depth, and the row of all other tokens."""

    def __init__(self, depths: int, hidden: int):
        super().__init__()
        self.log_temperature = torch.nn.Parameter(torch.zeros(depths))
        self.other = torch.nn.Parameter(torch.zeros(hidden))
        self.bias = torch.nn.Parameter(torch.zeros(()))

    def logits(self, depth: int, guesses: Tensor, inside: Tensor) -> Tensor:
        """Calibrated logits [N, D + 1] from guesses [N, H] and draft logits [N, D]."""
        other = guesses @ self.other + self.bias
        return torch.cat([inside, other[:, None]], dim=-1) / self.log_temperature[depth].exp()


def calibrate(trainer: Trainer, unseen: Unseen, depths: int = 6, rows: int = 600, iterations: int = 25) -> HeadCheckpoint:
    """The trainer's head with temperatures and the `other` row fitted on every other one of these answers.

    Minimises the cross-entropy to the target's distribution over draft vocabulary and rest, all depths together.
    """
    sample = held_out_rows(trainer, unseen, np.arange(0, len(unseen.corpus), 2), depths, rows)
    lm_head = trainer.lm_head.float()
    inside = [F.linear(held.guesses, lm_head) for held in sample]
    fit = _Fit(depths, trainer.target.hidden)
    with torch.no_grad():
        fit.bias.fill_(float(torch.cat([logits.logsumexp(-1) for logits in inside]).mean()) - 3.0)
    optimizer = torch.optim.LBFGS(fit.parameters(), max_iter=iterations, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        total = 1e-3 * fit.other.square().sum()
        for depth, (held, logits) in enumerate(zip(sample, inside, strict=True)):
            log_p = fit.logits(depth, held.guesses, logits).log_softmax(-1)
            total = total - (held.truth * log_p).sum(-1).mean()
        total.backward()
        return total

    optimizer.step(loss)
    return _with_fit(trainer.checkpoint(), fit)


def _with_fit(checkpoint: HeadCheckpoint, fit: _Fit) -> HeadCheckpoint:
    temperatures = [round(t, 4) for t in fit.log_temperature.detach().exp().tolist()]
    tensors = dict(checkpoint.tensors) | {
        "other.weight": fit.other.detach()[None].clone(),
        "other.bias": fit.bias.detach()[None].clone(),
    }
    own = dict(checkpoint.config.get("eagle_viz", {})) | {"temperatures": temperatures}
    return HeadCheckpoint(dict(checkpoint.config) | {"eagle_viz": own}, tensors, checkpoint.source)


@torch.no_grad()
def calibration_error(trainer: Trainer, unseen: Unseen, checkpoint: HeadCheckpoint, depths: int = 6, rows: int = 600) -> Mapping:
    """ECE of the ten best candidates on the answers that `calibrate` leaves out: by depth, and all depths together.

    15 bins of equal count, |mean confidence - mean target probability| weighted by count; no tree is drawn here, every
    candidate of every row counts.
    """
    sample = held_out_rows(trainer, unseen, np.arange(1, len(unseen.corpus), 2), depths, rows)
    head = torch.cat([trainer.lm_head.float(), checkpoint.tensors["other.weight"].float()])
    bias = torch.zeros(len(head))
    bias[-1] = checkpoint.tensors["other.bias"].float()[0]
    pairs = []
    for depth, held in enumerate(sample):
        temperature = checkpoint.temperatures[min(depth, len(checkpoint.temperatures) - 1)]
        p = (F.linear(held.guesses, head, bias) / temperature).softmax(-1)[:, :-1]
        confidence, ids = p.topk(min(10, p.shape[1]), dim=-1)
        pairs.append((confidence.flatten().numpy(), held.truth.gather(-1, ids).flatten().numpy()))
    whole = tuple(np.concatenate(side) for side in zip(*pairs, strict=True))
    return {"by_depth": [equal_count_error(*p) for p in pairs], "all": equal_count_error(*whole)}


def equal_count_error(confidence: np.ndarray, truth: np.ndarray, bins: int = BINS) -> float:
    """|mean confidence - mean truth| in `bins` bins of equal count, weighted by count.

    >>> equal_count_error(np.array([0.2, 0.8]), np.array([0.1, 0.9]), bins=2)
    0.1
    """
    parts = np.array_split(np.argsort(confidence, kind="stable"), bins)
    gaps = [abs(confidence[p].mean() - truth[p].mean()) * len(p) for p in parts if len(p)]
    return round(float(sum(gaps) / len(confidence)), 12)
