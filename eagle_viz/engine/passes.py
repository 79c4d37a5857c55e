"""What passes cost on this machine: a target pass over n positions, and a draft pass of the head."""

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

import torch

from eagle_viz.core.cost import PassCost
from eagle_viz.core.policies import Eagle2
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.head import Head
from eagle_viz.engine.reader import Reader
from eagle_viz.engine.target import Target

SIZES = (1, 2, 4, 8, 16, 26, 40, 60, 128)
PREFIX = 200
"""Tokens of text before the timed passes: the middle of an answer."""


def time_passes(target: Target, head: Head, sizes: Sequence[int] = SIZES, repeats: int = 15, prefix: int = PREFIX) -> PassCost:
    """Milliseconds of a target pass at each of `sizes` (positions, the root counted) and of one EAGLE-2 draft pass.

    Medians of `repeats` runs, the sizes taken in turn, so that a machine that slows down for a while slows them all. A draft
    pass is a sixth of drafting 25 nodes (top_k 10, six levels). Raises ValueError for sizes that do not begin with 1 and rise.
    """
    if list(sizes) != sorted(set(sizes)) or sizes[0] != 1:
        raise ValueError(f"sizes: {tuple(sizes)} given, allowed is 1 first, then rising")
    # The tokens do not matter for the time; these are some that every vocabulary has.
    text = [5 + place % 90 for place in range(prefix)]
    reader = Reader(target, HeadDrafter(head), text, grow=1, depth=max(sizes))
    reader.start(7)
    name = str(target.dtype).removeprefix("torch.")
    verify = _in_turn([_verify(reader, size) for size in sizes], repeats)
    draft = median(_drafts(reader, repeats)) / Eagle2().max_depth
    title = f"{torch.get_num_threads()} CPU threads, {name}"
    return PassCost(title, tuple(sizes), tuple(float(f"{ms:.3g}") for ms in verify), float(f"{draft:.3g}"))


def _verify(reader: Reader, size: int) -> Callable[[], None]:
    """A pass over `size` positions behind the text, forgotten afterwards; a chain costs what a tree of its size costs."""
    tokens, start = [7] * size, reader.cache.length
    mask = torch.ones(size, size, dtype=torch.bool).tril()

    def run() -> None:
        reader.target.forward(tokens, mask, range(start, start + size), reader.cache, taps=reader.drafter.taps)
        reader.cache.keep(start, [])

    return run


def _in_turn(runs: Sequence[Callable[[], None]], repeats: int) -> list[float]:
    """Median milliseconds of each run; a first round warms up and is not counted."""
    rounds = [[_milliseconds(run) for run in runs] for _ in range(repeats + 1)][1:]
    return [median(times) for times in zip(*rounds, strict=True)]


def _drafts(reader: Reader, repeats: int) -> list[float]:
    """Milliseconds of drafting one EAGLE-2 tree of 25 nodes below the same root, its prefix pass over one token included."""

    def run() -> None:
        landscape = reader.landscape()
        Eagle2()(landscape, 25)
        landscape.close()

    times = []
    for _ in range(repeats + 1):
        times.append(_milliseconds(run))
        reader.extend([7])
    return times[1:]


def _milliseconds(run: Callable[[], None]) -> float:
    began = perf_counter()
    run()
    return 1000 * (perf_counter() - began)
