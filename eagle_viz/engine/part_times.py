"""The parts of a cycle timed one by one on this machine, on a text without meaning: what a prediction is made of."""

from collections.abc import Iterable, Sequence
from statistics import median
from time import perf_counter

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
_GROWN = sum(ROWS) + len(WIDTHS) + 2 * len(POSITIONS)
"""Tokens that a text grows by in one round."""


def time_parts(target: Target, drafter: Drafter, repeats: int = 9) -> PartTimes:
    """Medians of `repeats` rounds; a round takes all sizes in turn, so that a machine that slows down slows them all.

    Raises ValueError where a part was timed less than once.
    """
    if repeats < 1:
        raise ValueError(f"repeats: {repeats} given, allowed is 1 or more")
    readers = [_reader(target, drafter, length, 1) for length in LENGTHS]
    verify = [_medians([[_verify(reader, size) for size in POSITIONS] for _ in range(repeats + 1)]) for reader in readers]
    rounds = [_drafting(_reader(target, drafter, LENGTHS[0], _GROWN)) for _ in range(repeats + 1)]
    prefix, frontier, rest = (_medians(times) for times in zip(*rounds, strict=True))
    return PartTimes(
        verify=tuple((length, _cost("verify", POSITIONS, times)) for length, times in zip(LENGTHS, verify, strict=True)),
        prefix=_cost("prefix", ROWS, prefix),
        frontier=_cost("frontier", WIDTHS, frontier),
        rest=_cost("rest", POSITIONS, rest),
    )


def _cost(title: str, sizes: Sequence[int], times: Iterable[float]) -> PassCost:
    return PassCost(title, tuple(sizes), tuple(times), 0.0)


def _medians(rounds: Sequence[Sequence[float]]) -> list[float]:
    """Median milliseconds of each part over the rounds; the first round warms up and is not counted."""
    return [median(times) for times in zip(*rounds[1:], strict=True)]


def _reader(target: Target, drafter: Drafter, length: int, grow: int) -> Reader:
    """A text of this length; the drafter holds one text at a time, that of the newest reader."""
    reader = Reader(target, drafter, [TOKEN] * length, grow=grow, depth=max(POSITIONS))
    reader.start(TOKEN)
    return reader


def _drafting(reader: Reader) -> tuple[list[float], list[float], list[float]]:
    """One round of the head's first passes, its later ones, and the rest of a cycle; the text grows meanwhile as an answer does."""
    prefix = [_prefix(reader, rows) for rows in ROWS]
    frontier = [_frontier(reader, width) for width in WIDTHS]
    return prefix, frontier, [_rest(reader, size) for size in POSITIONS]


def _chain(size: int) -> DraftTree:
    """A tree of `size` positions; a pass over it costs what any tree of its size costs."""
    return DraftTree.from_nodes((Node((0,) * depth, TOKEN, 1.0) for depth in range(1, size)), TOKEN)


def _verify(reader: Reader, size: int) -> float:
    """A target pass over `size` positions, forgotten afterwards."""
    tree, start, began = _chain(size), reader.cache.length, perf_counter()
    reader.verify(tree)
    seconds = perf_counter() - began
    reader.cache.keep(start, [])
    return 1000 * seconds


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


def _rest(reader: Reader, size: int) -> float:
    """Verdict and commitment behind a pass over `size` positions."""
    reader.extend([TOKEN])
    landscape = reader.landscape()
    landscape.expand([()])  # takes the rows that wait, as every cycle does
    landscape.close()
    tree = _chain(size)
    out, began = reader.verify(tree), perf_counter()
    verdict = verify_greedy(tree, greedy(out.logits))
    reader.commit(out.read, verdict.accepted[:0], [TOKEN])
    return 1000 * (perf_counter() - began)
