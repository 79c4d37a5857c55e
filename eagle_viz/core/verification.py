"""Walk a draft tree with the target's answer: the longest accepted path and the bonus token after it."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .tree import DraftTree


@dataclass(frozen=True)
class Verdict:
    """Accepted drafted nodes from the root down (root not counted) and the bonus token that the target adds after the last."""

    accepted: tuple[int, ...]
    bonus: int

    @property
    def accept_length(self) -> int:
        """Drafted tokens accepted in this pass, bonus not counted."""
        return len(self.accepted)


def written(tokens: Sequence[int], end_tokens: Container[int], room: int) -> int:
    """How many of a pass's tokens (accepted ones and the bonus) enter the answer: up to its end token, at most ``room``.

    Law: the mean of it over passes is tau, tokens written per verify pass, bonus counted.

    >>> written([5, 2, 7], end_tokens={2}, room=10), written([5, 6, 7], end_tokens={2}, room=1)
    (2, 1)
    """
    end = next((place for place, token in enumerate(tokens, start=1) if token in end_tokens), len(tokens))
    return min(end, room)


def conditional_acceptance(accept_lengths: Sequence[int]) -> tuple[float, ...]:
    """Share of passes accepted at positions 1, 2, ... among those accepted up to the one before, as far as any pass got.

    ``accept_lengths`` count drafted tokens that were accepted, also those behind an end token.

    >>> conditional_acceptance([0, 1, 2, 2])
    (0.75, 0.6666666666666666)
    """
    reached = [sum(length >= place for length in accept_lengths) for place in range(max(accept_lengths, default=0) + 1)]
    return tuple(now / before for before, now in pairwise(reached))


def acceptance_sentence(accept_lengths: Sequence[int], drafted: int) -> str:
    """How many drafted tokens were accepted, and the share of passes accepted at each position given the one before.

    >>> acceptance_sentence([0, 1, 2, 2], drafted=40)
    '5 of 40 drafted tokens accepted; by position, given the one before: 0.75 0.67'
    """
    rates = " ".join(f"{rate:.2f}" for rate in conditional_acceptance(accept_lengths))
    return f"{sum(accept_lengths)} of {drafted} drafted tokens accepted; by position, given the one before: {rates or '-'}"


def verify_greedy(tree: DraftTree, target_argmax: Sequence[int]) -> Verdict:
    """Accept the longest path equal to the target's own greedy continuation.

    ``target_argmax`` [n] the target's most probable token after each node. Law: accepted tokens + bonus are the first
    accept_length + 1 tokens of plain greedy decoding (reference section 4).
    """
    node, accepted = 0, []
    while True:
        wanted = int(target_argmax[node])
        follower = next((child for child in tree.children(node) if int(tree.tokens[child]) == wanted), None)
        if follower is None:
            return Verdict(tuple(accepted), wanted)
        accepted.append(follower)
        node = follower


def verify_sampled(tree: DraftTree, target: Callable[[int], np.ndarray], draw: Callable[[], float]) -> Verdict:
    """Accept child x with probability p(x), else strike x out, renormalise and try the next; the bonus comes from what is left.

    ``target(node)`` is the [V] *processed* distribution after a node (temperature and top-p applied), ``draw()`` a uniform number
    in [0, 1). Laws: P(child accepted | parent accepted) = p(child); the output is distributed exactly as the target samples
    (reference section 4: the draft is a point mass, q = 1).
    """
    node, accepted = 0, []
    while True:
        residual = np.array(target(node), dtype=np.float64)
        residual /= residual.sum()
        follower = _try_children(tree, node, residual, draw)
        if follower is None:
            return Verdict(tuple(accepted), sample(residual, draw()))
        accepted.append(follower)
        node = follower


def _try_children(tree: DraftTree, node: int, residual: np.ndarray, draw: Callable[[], float]) -> int | None:
    """The accepted child, or None with ``residual`` turned into the distribution of the bonus token."""
    for child in tree.children(node):
        token = int(tree.tokens[child])
        if draw() < residual[token]:
            return child
        residual[token] = 0.0
        left = residual.sum()
        if left <= 0:
            raise ValueError(f"target: the children of node {node} hold all its probability, and none was accepted")
        residual /= left
    return None


def sample(distribution: np.ndarray, uniform: float) -> int:
    """The token at which the cumulative distribution passes ``uniform``; never one of probability 0."""
    cumulative = np.cumsum(distribution)
    token = int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right"))
    return min(token, int(np.flatnonzero(distribution)[-1]))


def rolls(tree: DraftTree, draw: Callable[[], float], count: int) -> list[list[int]]:
    """``count`` verdicts for a landscape without a target, each its accepted nodes from the top down.

    At each node at most one child is accepted, with its confidence. Law: over many rolls the mean number of accepted nodes tends to
    ``expected_accepted``.
    """
    parents, ranks, confidences = tree.parents.tolist(), tree.ranks.tolist(), tree.confidences.tolist()
    below: list[list[tuple[int, float]]] = [[] for _ in parents]
    for child in sorted(range(1, len(tree)), key=ranks.__getitem__):
        below[parents[child]].append((child, confidences[child]))
    return [_roll(below, draw) for _ in range(count)]


def _roll(below: Sequence[Sequence[tuple[int, float]]], draw: Callable[[], float]) -> list[int]:
    node, accepted = 0, []
    while True:
        chance, follower = draw(), None
        for child, confidence in below[node]:
            chance -= confidence
            if chance < 0:
                follower = child
                break
        if follower is None:
            return accepted
        accepted.append(follower)
        node = follower
