"""The parts of a cycle timed one by one on this machine, on a text without meaning: what a prediction is made of."""

from collections.abc import Iterable, Sequence
from statistics import median
from time import perf_counter
from typing import NamedTuple

from eagle_viz.core.cost import PassCost
from eagle_viz.core.prediction import PartTimes
from eagle_viz.core.tree import DraftTree, Node
from eagle_viz.core.verification import verify_greedy
from eagle_viz.engine.drafted import Drafter
from eagle_viz.engine.reader import Reader
from eagle_viz.engine.sampling import greedy
from eagle_viz.engine.target import Target

LENGTHS = (64, 256)
"""Tokens of text before the timed passes: about where answers of some hundred tokens begin and end."""
POSITIONS = (1, 2, 4, 9, 16, 26, 40, 60)
ROWS = (1, 2, 4, 8, 64)
WIDTHS = (1, 2, 4, 10)
TOKEN = 7
"""The tokens do not matter for the time; every vocabulary has this one."""
_GROWN = 1 + sum(ROWS) + len(WIDTHS)
"""Tokens that a text grows by while the head's passes are timed."""


class Round(NamedTuple):
    """Milliseconds of every part, each timed once: `verify` and `rest` a list for each of `LENGTHS`."""

    verify: tuple[list[float], ...]
    prefix: list[float]
    frontier: list[float]
    rest: tuple[list[float], ...]


def time_round(target: Target, drafter: Drafter) -> Round:
    """Every part once, on texts of its own; a machine that slows down slows them all."""
    behind = [_verifying(_reader(target, drafter, length, len(POSITIONS))) for length in LENGTHS]
    reader = _reader(target, drafter, LENGTHS[0], _GROWN)
    _prefix(reader, 1)  # a text's first pass costs more, and an answer has one
    prefix = [_prefix(reader, rows) for rows in ROWS]
    frontier = [_frontier(reader, width) for width in WIDTHS]
    verify, rest = zip(*behind, strict=True)
    return Round(verify, prefix, frontier, rest)


def part_times(rounds: Sequence[Round]) -> PartTimes:
    """Medians over the rounds; what follows a pass does not depend on the text's length, so all lengths count alike.

    Raises ValueError where no round was timed.
    """
    if not rounds:
        raise ValueError("rounds: 0 given, allowed is 1 or more")
    verify = [_medians([one.verify[place] for one in rounds]) for place in range(len(LENGTHS))]
    rest = _medians([times for one in rounds for times in one.rest])
    return PartTimes(
        verify=tuple((length, _cost("verify", POSITIONS, times)) for length, times in zip(LENGTHS, verify, strict=True)),
        prefix=_cost("prefix", ROWS, _medians([one.prefix for one in rounds])),
        frontier=_cost("frontier", WIDTHS, _medians([one.frontier for one in rounds])),
        rest=_cost("rest", POSITIONS, rest),
    )


def _cost(title: str, sizes: Sequence[int], times: Iterable[float]) -> PassCost:
    return PassCost(title, tuple(sizes), tuple(times), 0.0)


def _medians(rounds: Sequence[Sequence[float]]) -> list[float]:
    """The median of each part over the rounds."""
    return [median(times) for times in zip(*rounds, strict=True)]


def _reader(target: Target, drafter: Drafter, length: int, grow: int) -> Reader:
    """A text of this length; the drafter holds one text at a time, that of the newest reader."""
    reader = Reader(target, drafter, [TOKEN] * length, grow=grow, depth=max(POSITIONS))
    reader.start(TOKEN)
    return reader


def _verifying(reader: Reader) -> tuple[list[float], list[float]]:
    """Of each number of positions, the pass over them and the rest of the cycle; the text grows by a token each time."""
    pairs = [_cycle(reader, size) for size in POSITIONS]
    verify, rest = zip(*pairs, strict=True)
    return list(verify), list(rest)


def _chain(size: int) -> DraftTree:
    """A tree of `size` positions; a pass over it costs what any tree of its size costs."""
    return DraftTree.from_nodes((Node((0,) * depth, TOKEN, 1.0) for depth in range(1, size)), TOKEN)


def _cycle(reader: Reader, size: int) -> tuple[float, float]:
    """A target pass over `size` positions and what follows it: verdict and commitment.

    Behind drafting, as every pass of a cycle is: what the head read is in the processor's caches then, not the target's weights.
    """
    landscape = reader.landscape()
    landscape.expand([()])
    landscape.expand([(rank,) for rank in range(max(WIDTHS))])
    landscape.close()
    tree, began = _chain(size), perf_counter()
    out = reader.verify(tree)
    answered = perf_counter()
    verdict = verify_greedy(tree, greedy(out.logits))
    reader.commit(out.read, verdict.accepted[:0], [TOKEN])
    return 1000 * (answered - began), 1000 * (perf_counter() - answered)


def _prefix(reader: Reader, rows: int) -> float:
    """The head's first pass behind `rows` new tokens."""
    reader.extend([TOKEN] * rows)
    landscape, began = reader.landscape(), perf_counter()
    landscape.expand([()])
    seconds = perf_counter() - began
    landscape.close()
    return 1000 * seconds


def _frontier(reader: Reader, width: int) -> float:
    """A later head pass, over `width` children of the root."""
    reader.extend([TOKEN])
    landscape = reader.landscape()
    landscape.expand([()])
    began = perf_counter()
    landscape.expand([(rank,) for rank in range(width)])
    seconds = perf_counter() - began
    landscape.close()
    return 1000 * seconds
