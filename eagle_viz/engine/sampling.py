"""How tokens are chosen from logits: the settings, and the distribution that is sampled (temperature, then top-p)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from eagle_viz.core.verification import sample

READINGS = ("sampling", "greedy")


@dataclass(frozen=True)
class Settings:
    """How to generate: at most `max_new_tokens` (the first, from the prompt's own pass, counted), sampled if `temperature` > 0.

    `reading` of the drafter's confidences: "sampling" as they are, "greedy" as chances to be the target's first choice
    (`core.greedy`), None: the one that fits the temperature, as far as the drafter knows it.
    Raises ValueError naming the field. The same `seed` gives the same text; who else is compared does not change it.
    """

    max_new_tokens: int = 128
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    probabilities: bool = True
    reading: str | None = None

    def __post_init__(self):
        if not 1 <= self.max_new_tokens <= 100_000:
            raise ValueError(f"max_new_tokens: {self.max_new_tokens!r} given, allowed is a whole number from 1 to 100000")
        if not 0 <= self.temperature <= 100:
            raise ValueError(f"temperature: {self.temperature!r} given, allowed is a number from 0 (greedy) to 100")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p: {self.top_p!r} given, allowed is a number above 0, up to 1")
        if self.reading not in (None, *READINGS):
            raise ValueError(f"reading: {self.reading!r} given, allowed is {' or '.join(READINGS)}")
        if self.seed < 0:
            raise ValueError(f"seed: {self.seed} given, allowed is a whole number from 0")


GREEDY = Settings()
"""At most 128 tokens, always the most probable one."""


def greedy(logits: Tensor) -> np.ndarray:
    """[n, V] logits -> [n] int64, the first largest of each row (numpy's argmax: torch's takes longer than a draft pass)."""
    return logits.float().numpy().argmax(axis=-1)


def processed(logits: Tensor, temperature: float, top_p: float = 1.0) -> np.ndarray:
    """[V] logits -> [V] float64 probabilities: softmax(logits / temperature), cut to the smallest set that holds `top_p`.

    Temperature 0 puts everything on the first largest logit. The same distribution is used to accept drafted tokens and
    to draw the bonus (reference section 4: never the bonus from unprocessed logits).
    """
    scores = logits.double().numpy()
    if temperature == 0:
        return np.eye(1, len(scores), int(scores.argmax()))[0]
    weights = np.exp((scores - scores.max()) / temperature)
    probabilities = weights / weights.sum()
    return probabilities if top_p == 1 else nucleus(probabilities, top_p)


def nucleus(probabilities: np.ndarray, top_p: float) -> np.ndarray:
    """The most probable tokens until they hold `top_p` together, renormalised; ties go to the smaller token id.

    >>> nucleus(np.array([0.5, 0.3, 0.2]), 0.6).tolist()
    [0.625, 0.375, 0.0]
    """
    order = np.argsort(-probabilities, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(probabilities[order])[:-1]])
    kept = np.zeros_like(probabilities)
    chosen = order[before < top_p]
    kept[chosen] = probabilities[chosen]
    return kept / kept.sum()


def choose(logits: Tensor, settings: Settings, draw: Callable[[], float]) -> int:
    """The next token from logits [V]: the first largest if greedy, drawn from the processed distribution otherwise."""
    if settings.temperature == 0:
        return int(greedy(logits))
    return sample(processed(logits, settings.temperature, settings.top_p), draw())


def processed_rows(logits: Tensor, settings: Settings) -> Callable[[int], np.ndarray]:
    """The processed distribution after each row, made when first asked for."""
    known: dict[int, np.ndarray] = {}

    def ask(row: int) -> np.ndarray:
        if row not in known:
            known[row] = processed(logits[row], settings.temperature, settings.top_p)
        return known[row]

    return ask
