"""A real drafter as a landscape: core's `Landscape.expand` answered by one batched forward a frontier."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from eagle_viz.core.greedy import GreedyCalibration
from eagle_viz.core.landscape import Candidates, Landscape, NotRecordedError
from eagle_viz.core.tree import ROOT, Path, path_name
from eagle_viz.engine.exact import exact
from eagle_viz.engine.head import Head
from eagle_viz.engine.target import Target


class Scored(NamedTuple):
    """Per row the most probable next tokens, most probable first: token ids and probabilities, [n, k] each.

    `by_target`: the target itself said so, and its probability of each token is the confidence.
    """

    tokens: np.ndarray
    confidences: np.ndarray
    by_target: bool = False


class FrontierPass(Protocol):
    """One draft pass: the drafter reads n tree nodes of one level and says what follows each."""

    def __call__(self, tokens: list[int], ancestors: list[tuple[int, ...]], depth: int) -> "Scored":
        """The most probable tokens after each of `tokens`, which lie at `depth`.

        `ancestors[i]` numbers the rows of node i's ancestors, the root (row 0) first; rows count up over all calls of
        one cycle, so the n nodes of this call get the next n rows.
        """

    def close(self) -> None:
        """Drop all rows of this tree from the drafter's cache."""


class DraftedLandscape(Landscape):
    """The candidates that a drafter sees below one root: the `top_k` most probable tokens after each path.

    Rows computed for one policy are reused for the next, ancestors not asked for are run first, and a frontier of one
    level costs one forward. Confidences are softmax in float64, cut (not rounded, so that they never sum to more than
    1) to float32 and put on the 2^-40 grid. After `close` only what was expanded is known (`NotRecordedError`).
    """

    def __init__(self, root_token: int, run: FrontierPass):
        self.root_token = root_token
        self._run: FrontierPass | None = run
        self._rows: dict[Path, tuple[int, ...]] = {}
        self._done: dict[Path, Candidates] = {}
        self.passes = 0

    @property
    def expanded(self) -> Mapping[Path, Candidates]:
        """Everything expanded so far, by path, parents before children."""
        return self._done

    def close(self) -> None:
        """Drop the tree's rows and let go of the drafter, whose text is about to grow. Closing twice is allowed."""
        if self._run is not None:
            self._run.close()
        self._run = None

    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        needed = {path[:depth] for path in paths for depth in range(len(path) + 1)} - self._done.keys()
        for depth in sorted({len(path) for path in needed}):
            self._run_level(sorted(path for path in needed if len(path) == depth), depth)
        return [self._done[path] for path in paths]

    def _run_level(self, level: list[Path], depth: int) -> None:
        if self._run is None:
            raise NotRecordedError(
                f"path {path_name(level[0])}: the text has moved on, and this was not drafted when its pass was made"
            )
        tokens = [self._token(path) for path in level]
        ancestors = [self._rows[path[:-1]] if path else () for path in level]
        found = self._run(tokens, ancestors, depth)
        self.passes += 1
        confidences, first = exact(found.confidences), len(self._rows)
        for i, path in enumerate(level):
            self._rows[path] = (*ancestors[i], first + i)
            self._done[path] = Candidates(found.tokens[i], confidences[i], confidences[i] if found.by_target else None)

    def _token(self, path: Path) -> int:
        if path == ROOT:
            return self.root_token
        siblings = self._done[path[:-1]].tokens
        if not 0 <= path[-1] < len(siblings):
            raise ValueError(f"path {path_name(path)}: rank {path[-1]} given, allowed is 0 to {len(siblings) - 1}")
        return int(siblings[path[-1]])


def most_probable(logits: Tensor, count: int) -> Scored:
    """The `count` most probable tokens of each row of logits [n, V]; ties go to the smaller token id."""
    logits = logits.float()
    best, tokens = logits.topk(min(count, logits.shape[1]), dim=1)
    largest = best[:, :1]
    total = (logits - largest).exp_().sum(dim=1, keepdim=True, dtype=torch.float64)
    probabilities = ((best - largest).double().exp() / total).numpy()
    order = np.lexsort((tokens.numpy(), -probabilities), axis=1)
    return Scored(np.take_along_axis(tokens.numpy(), order, 1), np.take_along_axis(probabilities, order, 1))


def tree_mask(ancestors: list[tuple[int, ...]], filled: int) -> Tensor:
    """[n, filled + n] bool: each of n new rows sees its ancestors among the `filled` tree rows before, and itself."""
    mask = np.zeros((len(ancestors), filled + len(ancestors)), dtype=bool)
    for i, rows in enumerate(ancestors):
        mask[i, list(rows)] = True
        mask[i, filled + i] = True
    return torch.from_numpy(mask)


class TargetTreePass:
    """Frontier passes of the target itself, rows behind the committed text in the target's own cache."""

    def __init__(self, target: Target, cache, top_k: int):
        self._target, self._cache, self._start, self._top_k = target, cache, cache.length, top_k

    def __call__(self, tokens: list[int], ancestors: list[tuple[int, ...]], depth: int) -> Scored:
        """See `FrontierPass`."""
        mask = tree_mask(ancestors, self._cache.length - self._start)
        positions = [self._start + depth] * len(tokens)
        logits = self._target.forward(tokens, mask=mask, position_ids=positions, cache=self._cache).logits
        return most_probable(logits, self._top_k)._replace(by_target=True)

    def close(self) -> None:
        """Drop the tree's rows: the cache ends where the committed text does."""
        self._cache.keep(self._start, [])


class Drafter(ABC):
    """Drafts below the root of a text that grows cycle by cycle: `landscape`, expands, `landscape.close`, then `commit`."""

    name: str
    greedy: GreedyCalibration | None = None
    """What its confidences say of greedy decoding, where that is known."""
    taps: tuple[int, ...] = ()
    """The target layers whose entering hidden states it reads; none: the final features."""

    @abstractmethod
    def begin(self, cache, capacity: int) -> None:
        """Start a new text of at most `capacity` positions, tree rows included; `cache` is the target's own."""

    @abstractmethod
    def commit(self, features: Tensor, tokens: Sequence[int]) -> None:
        """The text has grown: what it reads of the target at k positions (`TargetPass.read`), and the token that follows each."""

    @abstractmethod
    def landscape(self, root_token: int) -> DraftedLandscape:
        """The landscape below the last committed token; close it before the text grows."""


class OracleDrafter(Drafter):
    """The target as its own drafter: confidences are its own probabilities, so they are perfectly calibrated.

    An upper bound on what any drafter can do, and slow: a draft pass costs a target pass.
    """

    name = "oracle"

    def __init__(self, target: Target, top_k: int = 10):
        self.target, self.top_k = target, top_k
        self._cache = None

    def begin(self, cache, capacity: int) -> None:
        self._cache = cache

    def commit(self, features: Tensor, tokens: Sequence[int]) -> None:
        """Nothing to keep: the target's cache has grown by itself."""

    def landscape(self, root_token: int) -> DraftedLandscape:
        return DraftedLandscape(root_token, TargetTreePass(self.target, self._cache, self.top_k))


class HeadDrafter(Drafter):
    """A trained EAGLE head with its own cache: a draft pass costs one decoder layer instead of a whole target.

    The features and tokens of a verify pass wait until the next root is expanded: one head pass then reads them all and
    gives the root's children, as in EAGLE (its "prefix pass").
    """

    def __init__(self, head: Head, top_k: int = 10, name: str = "head"):
        self.head, self.top_k, self.name, self.taps, self.greedy = head, top_k, name, head.taps, head.checkpoint.greedy
        self._cache, self._waiting = None, None

    def begin(self, cache, capacity: int) -> None:
        self._cache, self._waiting = self.head.new_cache(capacity), None

    def commit(self, features: Tensor, tokens: Sequence[int]) -> None:
        states = self.head.fuse(features)
        before, earlier = self._waiting or (states[:0], [])
        self._waiting = (torch.cat([before, states]), [*earlier, *tokens])

    def landscape(self, root_token: int) -> DraftedLandscape:
        return DraftedLandscape(root_token, HeadTreePass(self.head, self._cache, self.top_k, self._take))

    def _take(self) -> tuple[Tensor, list[int]]:
        waiting, self._waiting = self._waiting, None
        return waiting


class HeadTreePass:
    """Frontier passes of a head. Row i of a pass reads (its token, its parent's guess); the root's row is the prefix pass's last.

    `take` hands over the states [k, H] and the tokens after them that the text has gained since the last prefix pass.
    """

    def __init__(self, head: Head, cache, top_k: int, take: Callable[[], tuple[Tensor, list[int]]]):
        self._head, self._cache, self._top_k, self._take = head, cache, top_k, take
        self._start, self._guesses = 0, None

    def __call__(self, tokens: list[int], ancestors: list[tuple[int, ...]], depth: int) -> Scored:
        """See `FrontierPass`."""
        guesses = self._tree(tokens, ancestors, depth) if depth else self._prefix()
        found = self._head.candidates(guesses, self._top_k, [depth + 1] * len(tokens))
        return Scored(found.tokens.numpy(), found.confidences.numpy())

    def _prefix(self) -> Tensor:
        states, tokens = self._take()
        self._guesses = self._head.forward(tokens, states, cache=self._cache)[-1:]
        self._start = self._cache.length
        return self._guesses

    def _tree(self, tokens: list[int], ancestors: list[tuple[int, ...]], depth: int) -> Tensor:
        parents = self._guesses[[rows[-1] for rows in ancestors]]
        below_root = [tuple(row - 1 for row in rows[1:]) for rows in ancestors]
        mask = tree_mask(below_root, self._cache.length - self._start)
        positions = [self._start - 1 + depth] * len(tokens)
        guesses = self._head.forward(tokens, parents, mask=mask, position_ids=positions, cache=self._cache)
        self._guesses = torch.cat([self._guesses, guesses])
        return guesses

    def close(self) -> None:
        """Drop the tree's rows: the head's cache ends at the root."""
        if self._guesses is not None:
            self._cache.keep(self._start, [])
