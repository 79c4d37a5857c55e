"""What a recording is: the cycles of one prompt with everything that budgets and policies need to be replayed without the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..greedy import GreedyCalibration, GreedyLandscape
from ..hashing import on_grid
from ..landscape import AverageTable, Candidates, RecordedLandscape, average_table
from ..tree import NO_TOKEN, ROOT, DraftTree, Path
from ..verification import Verdict

MAX_BUDGET = 128
TOP_K = 10
MAX_DEPTH = 12
"""What a recording answers for: budgets up to 128, 10 candidates a node, and 12 levels for the policies that take a depth."""


@dataclass(frozen=True)
class LiveVerdict:
    """What one policy got when the recording was made, ``budget`` nodes (root not counted): deepest accepted path and bonus
    token.
    """

    policy: str
    budget: int
    path: Path
    bonus: int

    @property
    def accept_length(self) -> int:
        """Drafted tokens accepted, bonus not counted."""
        return len(self.path)


@dataclass(frozen=True, eq=False)
class RecordedCycle:
    """One cycle: a context, the candidates below its root, and the target's own continuation.

    ``position`` index of the root in ``Recording.tokens``. ``continuation`` the target's greedy tokens after the root, as far
    as they were recorded (empty after the end of the text). ``verdicts`` what the compared policies got live, the leader's first.
    ``seconds`` of the live cycle: ``draft``, ``verify``, ``rest``. ``room`` answer tokens behind the root, None where nothing
    cuts a pass: more than these no pass can write.
    """

    position: int
    landscape: RecordedLandscape | GreedyLandscape
    continuation: tuple[int, ...]
    verdicts: tuple[LiveVerdict, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    room: int | None = None

    def written(self, accept_length: int) -> int:
        """Tokens that a pass with so many accepted ones writes: the bonus counted, cut where the answer ends.

        Law: the ``written`` of ``verification`` with the end token and the limit that ended the answer.
        """
        return accept_length + 1 if self.room is None else min(accept_length + 1, self.room)

    def verdict(self, tree: DraftTree) -> Verdict:
        """What the target's greedy continuation makes of any tree over this landscape.

        Law: for the tree of a policy in ``verdicts`` it equals what that policy got live. Where the whole continuation is
        drafted the bonus is ``NO_TOKEN``: the text ends there, or its recorded part does.
        """
        return follow(tree, self.continuation)


@dataclass(frozen=True)
class GreedyReading:
    """A drafter's calibration for greedy decoding, and the average table over the *other* recordings in that reading."""

    calibration: GreedyCalibration
    average: AverageTable | None = None


@dataclass(frozen=True, eq=False)
class Recording:
    """The cycles of one prompt.

    ``drafter`` "oracle" (the target itself) or a head's name; ``target`` who verified. ``tokens`` prompt in its chat template,
    answer, and a tail that only continuations use: ``prompt_length`` and ``answer_length`` count the first two. ``pieces[i]``
    is the text that answer token i adds. ``texts`` what each candidate token reads as. ``average`` the table of average
    confidences over the *other* recordings made with it, for ``best_static`` (None: there were none). ``greedy`` how the drafter's
    confidences are read for greedy decoding, where it knows (`for_greedy`).
    """

    name: str
    title: str
    kind: str
    prompt: str
    target: str
    drafter: str
    tokens: tuple[int, ...]
    prompt_length: int
    answer_length: int
    pieces: tuple[str, ...]
    texts: Mapping[int, str]
    cycles: tuple[RecordedCycle, ...]
    average: AverageTable | None = None
    greedy: GreedyReading | None = None
    made: Mapping[str, object] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether it answers for every setting of the page; a live one that is still being drafted does not yet."""
        holds = self.made.get("holds")
        return isinstance(holds, Mapping) and "budget" in holds

    @property
    def answer(self) -> str:
        """The answer's text."""
        return "".join(self.pieces[: self.answer_length])

    def words_before(self, cycle: int) -> str:
        """The answer's text before the root of this cycle (the root is the last token that was committed)."""
        return "".join(self.pieces[: self.answer_index(cycle)])

    def root_text(self, cycle: int) -> str:
        """What the root of this cycle adds to the answer."""
        return self.pieces[self.answer_index(cycle)]

    def words_after(self, cycle: int, count: int) -> str:
        """The text that the ``count`` tokens after the root of this cycle add; behind the answer each as it reads by itself."""
        first = self.answer_index(cycle) + 1
        inside = self.pieces[first : min(first + count, self.answer_length)]
        behind = self.cycles[cycle].continuation[len(inside) : count]
        return "".join([*inside, *(self.texts.get(token, f"token {token}") for token in behind)])

    def answer_index(self, cycle: int) -> int:
        """Index of this cycle's root among the answer's tokens, 0 first."""
        return self.cycles[cycle].position - self.prompt_length

    @property
    def read_for_greedy(self) -> bool:
        """Whether its confidences are read as chances to be the target's first choice."""
        return any(isinstance(cycle.landscape, GreedyLandscape) for cycle in self.cycles)

    def for_greedy(self) -> Recording:
        """Every confidence read as the chance to be the target's first choice; the recording itself where that is unknown.

        Law: tokens, ranks and what the target says stay. It is for drafting on; a file holds the recording itself.
        """
        if self.greedy is None or self.read_for_greedy:
            return self
        read = [GreedyLandscape(one.landscape, self.greedy.calibration, self.greedy.average) for one in self.cycles]
        cycles = tuple(replace(one, landscape=land) for one, land in zip(self.cycles, read, strict=True))
        return replace(self, cycles=cycles, average=self.greedy.average)

    @property
    def tau(self) -> dict[str, float]:
        """Tokens written per verify pass by each compared policy live on these contexts, bonus counted, by ``"policy budget"``."""
        lengths: dict[str, list[int]] = {}
        for cycle in self.cycles:
            for verdict in cycle.verdicts:
                lengths.setdefault(f"{verdict.policy} {verdict.budget}", []).append(cycle.written(verdict.accept_length))
        return {name: sum(found) / len(found) for name, found in lengths.items()}


def read_in(recordings: Sequence[Recording], reading: str | None = None) -> tuple[list[Recording], str]:
    """The recordings read for "sampling" or "greedy" decoding, and which it is; None: greedy where all of them know it.

    Raises ``ValueError`` for another reading, or a recording that does not know the greedy one.
    """
    unread = [one.name for one in recordings if one.greedy is None]
    if reading not in (None, "sampling", "greedy"):
        raise ValueError(f"reading: {reading!r} given, allowed is sampling or greedy")
    if reading == "greedy" and unread:
        raise ValueError(f"reading: 'greedy' given, but recording {unread[0]!r} has no calibration for it, allowed is sampling")
    greedy = not unread if reading is None else reading == "greedy"
    return ([one.for_greedy() for one in recordings], "greedy") if greedy else (list(recordings), "sampling")


def follow(tree: DraftTree, continuation: Sequence[int]) -> Verdict:
    """Accept the longest tree path equal to a continuation; the bonus is the token after it, ``NO_TOKEN`` where none is known.

    Law: equals ``verify_greedy`` with the argmaxes that made the continuation.
    """
    node, accepted = 0, []
    for token in continuation:
        follower = next((child for child in tree.children(node) if int(tree.tokens[child]) == token), None)
        if follower is None:
            return Verdict(tuple(accepted), int(token))
        accepted.append(follower)
        node = follower
    return Verdict(tuple(accepted), NO_TOKEN)


def average_confidences(landscapes: Iterable[Mapping[Path, Candidates]], levels: int = MAX_DEPTH) -> AverageTable | None:
    """Average confidence by (depth, rank) over contexts, each parent weighted by its value; None where there is no context.

    The weight is the probability that the parent is reached, so that row d tells what rank r is worth *given that level d - 1 was
    accepted*; levels that nobody recorded are left out. Law: over one context it gives that context's confidences by rank at
    level 1.
    """
    sums: list[np.ndarray] = [np.zeros(0) for _ in range(levels)]
    weights = np.zeros(levels)
    for candidates in landscapes:
        for path, value in _values(candidates).items():
            if len(path) < levels:
                sums[len(path)] = _add(sums[len(path)], value * candidates[path].confidences)
                weights[len(path)] += value
    rows = [tuple(on_grid(total / weight).tolist()) for total, weight in zip(sums, weights, strict=True) if weight > 0]
    return average_table(rows) if rows else None


def _values(candidates: Mapping[Path, Candidates]) -> dict[Path, float]:
    values = {ROOT: 1.0}
    for path in sorted(candidates, key=len):
        if path:
            values[path] = values[path[:-1]] * float(candidates[path[:-1]].confidences[path[-1]])
    return values


def _add(total: np.ndarray, row: np.ndarray) -> np.ndarray:
    size = max(len(total), len(row))
    return np.pad(total, (0, size - len(total))) + np.pad(row, (0, size - len(row)))
