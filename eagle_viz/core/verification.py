"""Walk a draft tree with the target's answer: the longest accepted path and the bonus token after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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


def roll(tree: DraftTree, draw: Callable[[], float]) -> tuple[int, ...]:
    """A verdict for a landscape without a target: at each node at most one child is accepted, with its confidence.

    Law: over many rolls the mean number of accepted nodes tends to ``expected_accepted``.
    """
    node, accepted = 0, []
    while True:
        chance, follower = draw(), None
        for child in tree.children(node):
            chance -= float(tree.confidences[child])
            if chance < 0:
                follower = child
                break
        if follower is None:
            return tuple(accepted)
        accepted.append(follower)
        node = follower
