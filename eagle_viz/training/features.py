"""The target's features at every token of a corpus, recomputed from the ids and kept in a memory-mapped file."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from eagle_viz.engine.llama import Llama
from eagle_viz.engine.target import Target
from eagle_viz.training.corpus import Corpus


class _NoCache:
    """Lets a whole sequence attend to itself without keeping anything."""

    length = 0

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        return keys, values

    def advance(self, count: int) -> None:
        pass


@dataclass(frozen=True)
class FeatureStore:
    """Features [tokens, W] of a corpus in bfloat16, row by row beside `Corpus.tokens`.

    A row holds the hidden states entering the tapped layers, H each, and last the final feature: W = (taps + 1) * H.
    """

    path: Path
    tokens: int
    width: int

    def open(self) -> Tensor:
        """All features as a tensor [tokens, W] that lies in the file."""
        flat = torch.from_file(str(self.path), shared=False, size=self.tokens * self.width, dtype=torch.bfloat16)
        return flat.view(self.tokens, self.width)


def length_batches(corpus: Corpus, budget: int) -> list[list[int]]:
    """Answer numbers in batches of similar length, at most `budget` padded tokens each, longest first."""
    sizes = np.diff(corpus.starts)
    batches, current, longest = [], [], 0
    for index in np.argsort(-sizes, kind="stable").tolist():
        longest = longest or int(sizes[index])
        if current and longest * (len(current) + 1) > budget:
            batches.append(current)
            current, longest = [], int(sizes[index])
        current.append(index)
    return [*batches, current] if current else batches


@torch.inference_mode()
def features_of(body: Llama, sequences: list[np.ndarray], taps: tuple[int, ...] = ()) -> list[Tensor]:
    """Tapped hidden states and the feature, [length, W], of each sequence; computed side by side with padding at the end."""
    width = max(map(len, sequences))
    tokens = torch.zeros(len(sequences), width, dtype=torch.long)
    for row, ids in enumerate(sequences):
        tokens[row, : len(ids)] = torch.from_numpy(ids.astype(np.int64))
    positions = torch.arange(width).expand(len(sequences), -1)
    features, tapped = body.forward(tokens, None, positions, _NoCache(), taps)
    rows = torch.cat([*tapped, features], dim=-1)
    return [f[: len(ids)] for f, ids in zip(rows, sequences, strict=True)]


def corpus_features(target: Target, corpus: Corpus, budget: int = 4096, taps: tuple[int, ...] = ()) -> Tensor:
    """The features of a small corpus in memory, [tokens, W] bfloat16."""
    out = torch.empty(len(corpus.tokens), (len(taps) + 1) * target.hidden, dtype=torch.bfloat16)
    for batch in length_batches(corpus, budget):
        rows = features_of(target.body, [corpus.sequence(i) for i in batch], taps)
        for index, features in zip(batch, rows, strict=True):
            out[corpus.starts[index] : corpus.starts[index + 1]] = features
    return out


def compute_features(
    target: Target,
    corpus: Corpus,
    path: Path,
    progress: Callable[[str, float], None],
    budget: int = 8192,
    taps: tuple[int, ...] = (),
) -> FeatureStore:
    """Write the features of a whole corpus to `path`; a finished file of the same corpus and taps is used as it is."""
    if not isinstance(target.body, Llama):
        raise ValueError("features need a plain Llama target; other architectures are not covered yet")
    store = FeatureStore(path, len(corpus.tokens), (len(taps) + 1) * target.hidden)
    done = path.with_suffix(".json")
    stamp = {"tokens": store.tokens, "hidden": target.hidden, "corpus": corpus.digest, "target": target.digest}
    stamp |= {"taps": list(taps)} if taps else {}
    if done.exists() and json.loads(done.read_text()) == stamp:
        return store
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    out = np.memmap(partial, dtype=np.uint16, mode="w+", shape=(store.tokens, store.width))
    batches = length_batches(corpus, budget)
    for number, batch in enumerate(batches):
        rows = features_of(target.body, [corpus.sequence(i) for i in batch], taps)
        for index, features in zip(batch, rows, strict=True):
            bits = features.to(torch.bfloat16).contiguous().view(torch.uint16).numpy()
            out[corpus.starts[index] : corpus.starts[index + 1]] = bits
        progress("features", (number + 1) / len(batches))
    out.flush()
    os.replace(partial, path)
    done.write_text(json.dumps(stamp))
    return store


def draft_vocabulary(corpus: Corpus, vocabulary: int, size: int) -> Tensor:
    """The `size` most frequent token ids of the answers, ascending; equal counts go to the smaller id."""
    counts = np.zeros(vocabulary, dtype=np.int64)
    for index in range(len(corpus)):
        answer = corpus.sequence(index)[corpus.prompt_sizes[index] :]
        np.add.at(counts, answer.astype(np.int64), 1)
    chosen = np.argsort(-counts, kind="stable")[:size]
    return torch.from_numpy(np.sort(chosen))
