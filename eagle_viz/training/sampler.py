"""Many answers at once: one preallocated cache, left-padded prompts, finished rows dropped."""

from dataclasses import dataclass

import torch
from torch import Tensor

from eagle_viz.engine.llama import Llama
from eagle_viz.engine.target import Target

_BLOCK = 64
_COLDEST = 1e-4  # a temperature so low that only the largest logit keeps any weight: cheaper than a separate argmax


@dataclass(frozen=True)
class Answer:
    """A prompt's token ids, the ids that the target continued it with, and the temperature it did so at."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    temperature: float


def draw_tokens(logits: Tensor, temperatures: Tensor, generator: torch.Generator) -> Tensor:
    """One token a row, [B], from logits [B, V] at temperatures [B]; temperature 0 takes the largest (or one of equals).

    Inverts the cumulative distribution in two levels (blocks, then inside one block), so that the large vocabulary is
    read once.
    """
    scaled = logits.float() - logits.amax(-1, keepdim=True).float()
    weights = scaled.div_(temperatures.clamp_min(_COLDEST)[:, None]).exp_()
    padding = -weights.shape[1] % _BLOCK
    blocks = torch.nn.functional.pad(weights, (0, padding)).view(len(weights), -1, _BLOCK)
    sums = blocks.sum(-1).cumsum(-1)
    ticket = torch.rand(len(weights), 1, generator=generator) * sums[:, -1:]
    block = torch.searchsorted(sums, ticket, right=True).clamp_max(sums.shape[1] - 1)
    before = torch.where(block > 0, sums.gather(1, (block - 1).clamp_min(0)), 0.0)
    inside = blocks[torch.arange(len(weights)), block[:, 0]].cumsum(-1)
    offset = torch.searchsorted(inside, ticket - before, right=True).clamp_max(_BLOCK - 1)
    return (block * _BLOCK + offset)[:, 0].clamp_max(logits.shape[1] - 1)


class _Batch:
    """The rows still being written: their tokens, cache, and which cached positions are padding."""

    def __init__(self, body: Llama, prompts: list[list[int]], temperatures: list[float], limit: int):
        width = max(map(len, prompts))
        self.body, self.rows = body, torch.arange(len(prompts))
        self.temperatures = torch.tensor(temperatures)
        self.cache = body.new_cache(width + limit, batch=len(prompts))
        self.real = torch.ones(len(prompts), width + limit, dtype=torch.bool)
        for row, prompt in enumerate(prompts):
            self.real[row, : width - len(prompt)] = False
        self.tokens = torch.tensor([[0] * (width - len(p)) + list(p) for p in prompts])
        self.next = torch.tensor([len(p) for p in prompts])

    def prefill(self) -> Tensor:
        """Features [B, H] of each row's last prompt token."""
        width = self.tokens.shape[1]
        # A padding row must see something, or its softmax has no weight to give; what it computes is never read.
        causal = torch.ones(width, width, dtype=torch.bool).tril() & self.real[:, None, :width]
        mask = causal | torch.eye(width, dtype=torch.bool)
        positions = (self.real[:, :width].cumsum(-1) - 1).clamp_min(0)
        return self.body.forward(self.tokens, mask, positions, self.cache)[0][:, -1]

    def step(self, tokens: Tensor) -> Tensor:
        """Features [B, H] after one more token a row, [B]."""
        mask = self.real[:, None, : self.cache.length + 1]
        features = self.body.forward(tokens[:, None], mask, self.next[:, None], self.cache)[0][:, -1]
        self.next = self.next + 1
        return features

    def keep(self, alive: Tensor) -> None:
        """Go on with the rows `alive` (bool [B]) only."""
        self.rows, self.temperatures, self.next = self.rows[alive], self.temperatures[alive], self.next[alive]
        self.real = self.real[alive]
        self.cache.keep_batch(alive)


@torch.inference_mode()
def sample_batch(target: Target, prompts: list[list[int]], temperatures: list[float], limit: int, seed: int) -> list[list[int]]:
    """Continue each prompt until an end token (kept) or `limit` tokens; the seed fixes every draw."""
    if not isinstance(target.body, Llama):
        raise ValueError("the sampler needs a plain Llama target; other architectures are not covered yet")
    generator = torch.Generator().manual_seed(seed)
    ends = torch.tensor(sorted(target.end_tokens))
    batch = _Batch(target.body, prompts, temperatures, limit)
    answers: list[list[int]] = [[] for _ in prompts]
    features, alive = batch.prefill(), torch.ones(len(prompts), dtype=torch.bool)
    for _ in range(limit):
        tokens = draw_tokens(target.logits(features), batch.temperatures, generator)
        for row, token, going in zip(batch.rows.tolist(), tokens.tolist(), alive.tolist(), strict=True):
            if going:
                answers[row].append(token)
        alive &= ~torch.isin(tokens, ends)
        if not alive.any():
            break
        if alive.sum() <= 0.8 * len(alive):
            batch.keep(alive)
            tokens, alive = tokens[alive], alive[alive]
        features = batch.step(tokens)
    return answers
