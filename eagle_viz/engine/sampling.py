"""From logits to the distribution that is sampled: temperature, then top-p."""

import numpy as np
from torch import Tensor


def check_sampling(temperature: float, top_p: float) -> None:
    """Raise ValueError unless temperature is 0 (greedy) to 100 and top_p above 0, up to 1."""
    if not 0 <= temperature <= 100:
        raise ValueError(f"temperature: {temperature!r} given, allowed is a number from 0 (greedy) to 100")
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p: {top_p!r} given, allowed is a number above 0, up to 1")


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
