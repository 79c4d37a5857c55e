"""The verify phase of a trace: seeded rolls where there is no target, the recorded verdict where there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..core.tree import ROOT, DraftTree, Node, Path
from ..core.verification import rolls

ROLLS = 1000

Drafted = Sequence[tuple[Path, int, float]]
"""Path, token and confidence of every node that either tree may keep."""


def rolled_verdicts(drafted: Drafted, index: Mapping[Path, int], seed: int, count: int = ROLLS) -> dict[str, object]:
    """``count`` seeded verdicts over the union of both trees, each the indices of the accepted nodes from the top down.

    One roll is one answer of the target for both trees: each accepts the part of it that it kept. That is fair to both, because on
    the union every child is accepted with its confidence. Law: over the rolls the mean number of nodes that a tree accepts tends to
    its ``expected_accepted``.
    """
    union = DraftTree.from_nodes(Node(*node) for node in drafted)
    draw = np.random.default_rng(seed).random
    rows = [index[path] for path in union.paths]
    return {"kind": "rolls", "seed": seed, "rolls": [[rows[node] for node in roll] for roll in rolls(union, draw, count)]}


def recorded_verdict(
    drafted: Drafted,
    index: Mapping[Path, int],
    continuation: Sequence[int],
    speak: Callable[[int], str],
    standing: Callable[[Path, int], str],
) -> dict[str, object]:
    """The target's own continuation as far as the union of both trees follows it, and why it stops there.

    ``path`` indices of the accepted nodes from the top down. ``said[d]`` the d-th token the target wanted, as the page writes it.
    ``stops[d]``: why a tree that keeps exactly the first d nodes of the path stops there; ``standing``
    says where a token stood among the guesses below a path (``core.readout.guess_standing``, as everywhere on the page).
    """
    tokens = {path: token for path, token, _ in drafted}
    accepted, here = [], ROOT
    for wanted in continuation:
        following = [path for path in tokens if path[:-1] == here and len(path) == len(here) + 1 and tokens[path] == wanted]
        if not following:
            break
        here = following[0]
        accepted.append(here)
    said = [speak(token) for token in continuation[: len(accepted) + 1]]
    return {
        "kind": "recorded",
        "path": [index[path] for path in accepted],
        "said": said,
        "stops": [
            _stop(depth, said, lambda depth=depth: standing(here[:depth], continuation[depth]))
            for depth in range(len(accepted) + 1)
        ],
    }


def _stop(depth: int, said: Sequence[str], standing: Callable[[], str]) -> str:
    if depth >= len(said):
        return f"{depth} accepted: all that is recorded of the target's answer."
    return f"{depth} accepted; the target then says {said[depth]}, {standing()}."
