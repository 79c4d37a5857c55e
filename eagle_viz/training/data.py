"""Batches for training a head: which answers go together, and what the head reads and must guess."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from eagle_viz.engine.target import Target
from eagle_viz.training.corpus import Corpus

_WINDOW = 32  # batches whose answers are sorted by length together: little padding, still a shuffled epoch


@dataclass(frozen=True)
class Batch:
    """B sequences of up to L tokens; row i guesses feature i + 1.

    embedded  [B, L, H] embedding of token i + 1
    features  [B, L, F] what the head reads of the target: its feature (F = H), or the tapped hidden states (F = 3H)
    wanted    [N, H] the target's features at the places that the rows that count guess
    rows      [N] where those rows lie in a flattened [B * L]: from the last prompt token to the last but one
    """

    embedded: Tensor
    features: Tensor
    wanted: Tensor
    rows: Tensor


def batch_order(sizes: np.ndarray, batch: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Positions in `sizes` in batches for one epoch, shuffled by (seed, epoch); a last short batch is left out."""
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(sizes))
    window = batch * _WINDOW
    for start in range(0, len(order), window):
        part = order[start : start + window]
        order[start : start + window] = part[np.argsort(sizes[part], kind="stable")]
    batches = [order[i : i + batch] for i in range(0, len(order) - batch + 1, batch)]
    return [batches[i] for i in rng.permutation(len(batches))]


def make_batch(target: Target, corpus: Corpus, features: Tensor, answers) -> Batch:
    """The batch of these answer numbers; `features` is the corpus's whole feature tensor [tokens, W] (see `FeatureStore`)."""
    starts, ends = corpus.starts[answers], corpus.starts[np.asarray(answers) + 1]
    width = int((ends - starts).max())
    tokens = torch.zeros(len(answers), width, dtype=torch.long)
    padded = torch.zeros(len(answers), width, features.shape[1], dtype=features.dtype)
    rows = []
    for row, (index, start, end) in enumerate(zip(answers, starts, ends, strict=True)):
        ids = torch.from_numpy(corpus.tokens[start:end].astype(np.int64))
        tokens[row, : len(ids) - 1] = ids[1:]
        padded[row, : len(ids)] = features[start:end]
        rows.append(torch.arange(int(corpus.prompt_sizes[index]) - 1, len(ids) - 1) + row * width)
    rows = torch.cat(rows)
    tapped, final = padded[..., : -target.hidden], padded[..., -target.hidden :]
    return Batch(target.embeddings[tokens], tapped if tapped.shape[-1] else final, final.flatten(0, 1)[rows + 1], rows)
