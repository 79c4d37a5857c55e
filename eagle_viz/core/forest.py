"""One verify budget over several requests: best-first on a landscape whose root has a sure child for each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .landscape import Candidates, Landscape
from .policies import BestFirst
from .policies.base import check_whole
from .tree import NO_TOKEN, ROOT, DraftTree, Path

MOST_REQUESTS = 256


class Forest(Landscape):
    """Several requests side by side: child b of the root is the root of request b, with confidence 1; below it that request's own
    landscape.

    The path of a node is its request's number before its path there, so that one order of products serves all requests.
    """

    def __init__(self, requests: Sequence[Landscape]) -> None:
        check_whole("requests", len(requests), 1, MOST_REQUESTS)
        self.requests = tuple(requests)

    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        return [self._below(path) for path in paths]

    def _below(self, path: Path) -> Candidates:
        if path == ROOT:
            return Candidates(np.full(len(self.requests), NO_TOKEN), np.ones(len(self.requests)))
        return self.requests[path[0]].expand([path[1:]])[0]


@dataclass(frozen=True, eq=False)
class Shared:
    """One budget over several requests: the tree of each, dealt by one order of products, and of equal size.

    ``expected`` accepted drafted tokens over all requests with one order, ``equal`` with the same budget each; bonus not counted.
    """

    trees: tuple[DraftTree, ...]
    equal_trees: tuple[DraftTree, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Drafted nodes of each request."""
        return tuple(tree.budget for tree in self.trees)

    @property
    def expected(self) -> float:
        """Expected accepted tokens over all requests where one order deals the budget."""
        return math.fsum(tree.expected_accepted for tree in self.trees)

    @property
    def equal(self) -> float:
        """The same where each request gets an equal part."""
        return math.fsum(tree.expected_accepted for tree in self.equal_trees)

    @property
    def gain(self) -> float:
        """More tokens a pass over the batch, each request's bonus counted: (B + expected) / (B + equal) - 1."""
        return (len(self.trees) + self.expected) / (len(self.trees) + self.equal) - 1


def share(requests: Sequence[Landscape], budget_each: int, max_depth: int | None = None) -> Shared:
    """Spend ``budget_each`` nodes a request on average, dealt to the largest path products of all requests, and dealt equally.

    Every tree has at most ``max_depth`` levels. Raises what best-first raises where a request has too few candidates for its equal
    part. Laws: no way to deal the nodes expects more; like requests get like sizes (up to one node) and no gain.

    >>> from .landscape import RankLandscape
    >>> share([RankLandscape([0.9, 0.05]), RankLandscape([0.3, 0.2])], budget_each=2, max_depth=4).sizes
    (4, 0)
    """
    forest, depth = Forest(requests), None if max_depth is None else max_depth + 1
    draft = BestFirst(depth)(forest, len(requests) * (budget_each + 1))
    equal = tuple(BestFirst(max_depth)(request, budget_each).tree for request in requests)
    return Shared(tuple(_request(draft.tree, number, one) for number, one in enumerate(requests)), equal)


def _request(tree: DraftTree, number: int, landscape: Landscape) -> DraftTree:
    """The part of a forest's tree that belongs to one request."""
    nodes = [node._replace(path=node.path[1:]) for node in tree.nodes() if len(node.path) > 1 and node.path[0] == number]
    return DraftTree.from_nodes(nodes, landscape.root_token)


def batches(contexts: Sequence[Landscape], requests: int) -> list[list[Landscape]]:
    """As many batches of so many requests as there are contexts for, each spread evenly over them.

    Raises ``ValueError`` where there are fewer contexts than requests.

    >>> batches("abcdefg", 3)
    [['a', 'c', 'e'], ['b', 'd', 'f']]
    """
    if not 1 <= requests <= len(contexts):
        raise ValueError(f"requests: {requests} given, allowed are at most the {len(contexts)} contexts there are")
    count = len(contexts) // requests
    return [list(contexts[number::count][:requests]) for number in range(count)]


def mean_tau(found: Sequence[Shared]) -> tuple[float, float]:
    """Expected tokens a pass and request, bonus counted, over batches: with equal parts, and with one order of products."""
    counts = [len(one.trees) for one in found]
    return tuple(1 + sum(getattr(one, name) for one in found) / sum(counts) for name in ("equal", "expected"))
