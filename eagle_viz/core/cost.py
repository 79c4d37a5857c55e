"""What a tree costs: time of a verify pass as a function of its size, speed against plain decoding, and the best budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

EXAMPLE = "1:46 8:89 60:164 draft:4.6"
SHORTEST_MS, LONGEST_MS = 1e-3, 1e9
"""Times that people may write: between them no speed overflows."""
MOST_POSITIONS = 2**20
"""More than any batch of trees has; a larger number is a slip of the pen."""


@dataclass(frozen=True)
class PassCost:
    """Milliseconds of one target pass over n positions, measured at ``sizes`` (1 first, rising) and interpolated in between.

    ``draft_ms`` milliseconds of one draft pass, 0 where it is not known (``draft_known``); ``plain_ms`` of a token of plain
    decoding, where that is not a pass over one position (another precision may be faster there). Beyond the last size time grows
    as between the last two, and never shrinks.
    Raises ``ValueError`` naming the field.
    """

    title: str
    sizes: tuple[int, ...]
    verify_ms: tuple[float, ...]
    draft_ms: float
    plain_ms: float | None = None
    draft_known: bool = True

    def __post_init__(self) -> None:
        if len(self.sizes) < 2 or len(self.sizes) != len(self.verify_ms):
            raise ValueError("Give at least two sizes, for example 1:9 64:10")
        if self.sizes[0] != 1 or list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError(f"sizes: {self.sizes} given, allowed is 1 first, then rising")
        if self.sizes[-1] > MOST_POSITIONS:
            raise ValueError(f"sizes: {str(self.sizes[-1])[:20]} positions given, allowed is a pass over at most {MOST_POSITIONS}")
        if min(self.verify_ms) <= 0 or self.draft_ms < 0:
            raise ValueError(f"verify_ms: {min(self.verify_ms)}, draft_ms: {self.draft_ms} given, allowed is above 0 and 0 or more")

    def verify(self, positions: np.ndarray | int) -> np.ndarray:
        """Milliseconds of a pass over this many positions, the root counted.

        >>> float(PassCost("linear", (1, 11), (10.0, 20.0), 0.0).verify(26))
        35.0
        """
        positions = np.asarray(positions, dtype=np.float64)
        slope = (self.verify_ms[-1] - self.verify_ms[-2]) / (self.sizes[-1] - self.sizes[-2])
        beyond = np.maximum(positions - self.sizes[-1], 0) * max(slope, 0.0)
        return np.interp(positions, self.sizes, self.verify_ms) + beyond

    @property
    def text(self) -> str:
        """All times as people write them, ``positions:milliseconds`` one after the other; ``parse_times`` reads it."""
        times = [f"{size}:{ms:g}" for size, ms in zip(self.sizes, self.verify_ms, strict=True)]
        plain = [] if self.plain_ms is None else [f"plain:{self.plain_ms:g}"]
        draft = [f"draft:{self.draft_ms:g}"] if self.draft_known else []
        return " ".join([*times, *draft, *plain])


def parse_times(title: str, text: str) -> PassCost:
    """Times written as ``positions:milliseconds``, 1 first, with ``draft:`` and ``plain:`` beside them if they are known.

    Without ``draft:`` a draft pass costs nothing; without ``plain:`` a plain token costs a pass over one position. Raises
    ``ValueError`` with one sentence.

    >>> parse_times("mine", "1:10 11:20 draft:0.5").verify_ms
    (10.0, 20.0)
    """
    try:
        pairs = [word.split(":") for word in text.replace(",", " ").split()]
        named = {name: float(ms) for name, ms in pairs if name in ("draft", "plain")}
        times = {int(size): float(ms) for size, ms in pairs if size not in named}
    except ValueError as error:
        raise ValueError(f"times: {text[:60]!r} given, allowed is positions:milliseconds, such as {EXAMPLE}") from error
    if len(times) + len(named) < len(pairs):
        raise ValueError(f"times: {text[:60]!r} given, allowed is each number of positions once")
    shortest = min((*times.values(), named.get("plain", SHORTEST_MS)), default=SHORTEST_MS)
    known = all(0 <= ms <= LONGEST_MS for ms in (*times.values(), *named.values()))
    if not known or shortest < SHORTEST_MS:
        raise ValueError(f"times: {text[:60]!r} given, allowed are {SHORTEST_MS:g} to {LONGEST_MS:g} milliseconds (draft: from 0)")
    return PassCost(title, tuple(times), tuple(times.values()), named.get("draft", 0.0), named.get("plain"), "draft" in named)


def check_rising(cost: PassCost) -> None:
    """Raise ``ValueError`` where a larger pass is said to take under 90 % of a smaller one's time: more than noise of measuring."""
    for size, ms, most in zip(cost.sizes, cost.verify_ms, np.maximum.accumulate(cost.verify_ms).tolist(), strict=True):
        if ms < 0.9 * most:
            raise ValueError(
                f"times: {size}:{ms:g} given after {most:g} ms for fewer positions, allowed are times that do not fall"
            )


def price_warnings(cost: PassCost, best: Mapping[str, int], largest: int, batch: int = 1) -> list[str]:
    """What the times or the budgets looked at leave open about a speed, a sentence each.

    ``best`` the fastest budget of each policy by its title, ``largest`` the largest budget looked at, both in drafted nodes (root
    not counted); ``batch`` requests in one pass.

    >>> price_warnings(PassCost("mine", (1, 64), (10.0, 11.0), 0.6), {"EAGLE-2": 40}, largest=60)
    []
    """
    found = []
    if not cost.draft_known:
        found.append("No draft: time is given, so draft passes count as free. Real speeds are lower.")
    if cost.sizes[-1] < batch * largest:
        flat = " (flat)" if cost.verify_ms[-1] <= cost.verify_ms[-2] else ""
        found.append(f"Passes over more than {cost.sizes[-1]} positions were not measured: their time is extrapolated{flat}.")
    for title, budget in best.items():
        if budget >= largest:
            found.append(f"{title} is fastest at {budget} nodes, the largest budget looked at: a larger one may be faster still.")
    return found


def speedup(
    cost: PassCost, accepted: np.ndarray | Sequence[float], budgets: Sequence[int], passes: Sequence[float], batch: int = 1
) -> np.ndarray:
    """[m] tokens a second against plain decoding at the same batch: (1 + accepted) t(B) / (t(B (N + 1)) + passes * c).

    ``accepted`` [m] drafted tokens a pass (bonus not counted) at each of ``budgets`` N, ``passes`` draft passes of each tree,
    ``batch`` B requests in one pass (reference section 6 with B = 1); c is the same at every batch. ``cost.plain_ms`` counts at
    batch 1 alone, where it was measured.
    """
    plain = cost.plain_ms if batch == 1 and cost.plain_ms else float(cost.verify(batch))
    time = cost.verify(batch * (np.asarray(budgets) + 1)) + np.asarray(passes) * cost.draft_ms
    return (1 + np.asarray(accepted)) * plain / time


_SIZES = (1, 2, 4, 8, 16, 26, 40, 60, 128)
FLOAT32 = PassCost("2 CPU cores, float32", _SIZES, (56.4, 56.7, 66.5, 80.4, 92.4, 110, 131, 189, 318), 6.39, plain_ms=55.2)
BFLOAT16 = PassCost(
    "2 CPU cores, bfloat16 (AMX)", _SIZES, (63.6, 62.6, 60.6, 61.4, 61.7, 80.7, 83.9, 89.1, 134), 6.62, plain_ms=55.2
)
"""SmolLM2-135M-Instruct after a prefix of 200 tokens, medians of nine, printed by ``bench passes`` on a machine doing nothing else.
On a processor with AMX, bfloat16 verifies 16 positions in the time of one; float32 pays for each. Both are held against the faster
plain decoding (bfloat16, 18.1 tokens a second, ``bench decode``)."""

SUPPOSED = PassCost("Memory-bound GPU (assumed numbers)", (1, 64, 256), (10.0, 11.0, 30.0), 0.6)
"""Not measured: a pass that reads the weights once, almost flat up to 64 positions, to show which t(n) favours which budget."""

TIMES: dict[str, PassCost] = {"cpu-bfloat16": BFLOAT16, "cpu-float32": FLOAT32, "gpu": SUPPOSED}
"""By the name that links know them by."""
