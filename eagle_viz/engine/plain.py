"""Plain decoding, a token a pass, and whether a drafted answer equals it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor

from eagle_viz.engine.reader import check_length
from eagle_viz.engine.sampling import GREEDY, Settings, choose
from eagle_viz.engine.target import Target

NEAR_TIE = 1e-4
"""Two logits closer than this may swap with the width of a batch: a difference there is reported, not called a loss."""


def plain(target: Target, prompt: Sequence[int], settings: Settings = GREEDY) -> Iterator[tuple[int, Tensor]]:
    """Plain decoding, a token a pass: each token with the logits [V] that it was chosen from."""
    check_length(target, len(prompt), settings.max_new_tokens)
    cache = target.new_cache(len(prompt) + settings.max_new_tokens)
    draw = np.random.default_rng([settings.seed, 0]).random
    tokens: Sequence[int] = prompt
    for _ in range(settings.max_new_tokens):
        logits = target.forward(tokens, cache=cache).logits[-1]
        token = choose(logits, settings, draw)
        yield token, logits
        if token in target.end_tokens:
            return
        tokens = [token]


@dataclass(frozen=True)
class LosslessCheck:
    """A greedy answer against plain greedy decoding: the first token that differs, and how near the target was to a tie there.

    `gap` difference of the target's two largest logits at that place; `plain` the tokens of plain decoding.
    """

    identical: bool
    first_difference: int | None
    gap: float | None
    plain: tuple[int, ...] = field(repr=False)

    @property
    def near_tie(self) -> bool:
        """Whether the outputs part only where two logits are closer than 1e-4."""
        return self.gap is not None and self.gap < NEAR_TIE

    def to_json(self) -> dict:
        """`identical`, `first_difference` (index among the answer's tokens, or null) and `gap` (null where identical)."""
        return {"identical": self.identical, "first_difference": self.first_difference, "gap": self.gap}


def check_lossless(target: Target, prompt: Sequence[int], answer: Sequence[int]) -> LosslessCheck:
    """Compare a greedy answer with plain greedy decoding of the same length, token for token."""
    wanted: list[int] = []
    for place, (token, logits) in enumerate(plain(target, prompt, Settings(max_new_tokens=max(1, len(answer))))):
        wanted.append(token)
        if place >= len(answer) or token != answer[place]:
            best = logits.float().topk(2).values
            return LosslessCheck(False, place, float(best[0] - best[1]), tuple(wanted))
    return LosslessCheck(len(wanted) == len(answer), None if len(wanted) == len(answer) else len(wanted), None, tuple(wanted))
