"""Trees from a file on the stage: a landscape that holds just them, and a policy that keeps what the file says."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .documents import comparison_trees
from .landscape import Candidates, RecordedLandscape
from .policies import POLICIES, FixedOrder
from .policies.fixed_order import parents_first
from .tree import NO_TOKEN, DraftTree, Path, path_name, sendable

MAX_BYTES = 4 * 2**20
_ROUNDING = 1e-5
"""Siblings may sum to so much above 1: confidences written with a few decimals."""


@dataclass(frozen=True, eq=False)
class Uploaded:
    """The two trees of a comparison document. Law: each policy at its tree's size gives that tree back."""

    digest: str
    landscape: RecordedLandscape
    static: FixedOrder
    dynamic: FixedOrder


def read_upload(content: bytes) -> Uploaded:
    """Read what the stage's JSON export or ``compare --json`` wrote; raises ``ValueError`` in one sentence for anything else."""
    if len(content) > MAX_BYTES:
        raise ValueError(f"file: {len(content) / 2**20:.0f} MB given, allowed is at most {MAX_BYTES // 2**20} MB")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        why = f"not JSON ({str(error)[:80]})"
        raise ValueError(f"file: {why}, allowed is what the stage's JSON button or compare --json wrote") from None
    static, dynamic = comparison_trees(document)
    landscape = RecordedLandscape(_candidates((static, dynamic)), texts=_texts(document))
    sides = [_order(document[side]) for side in ("static", "dynamic")]
    return Uploaded(hashlib.sha256(content).hexdigest()[:16], landscape, *sides)


def _order(document: dict) -> FixedOrder:
    """The file's own order, if it puts ancestors first; by level otherwise."""
    paths = [tuple(map(int, entry["path"].split("."))) for entry in document["nodes"]]
    policy = POLICIES.get(str(document.get("policy")))
    return FixedOrder(f"{policy.title if policy else 'A tree'} (file)", parents_first(paths))


def _texts(document: dict) -> dict[int, str]:
    entries = [entry for side in ("static", "dynamic") for entry in document[side]["nodes"]]
    return {entry["token"]: sendable(str(entry["text"])[:200]) for entry in entries if "text" in entry and "token" in entry}


def _candidates(trees: Sequence[DraftTree]) -> dict[Path, Candidates]:
    """Each parent's children by rank. A rank that no tree kept takes the confidence of the next one that was."""
    known: dict[Path, dict[int, tuple[int, float]]] = {(): {}}
    for node in (node for tree in trees for node in tree.nodes()):
        row = known.setdefault(node.path[:-1], {})
        if row.setdefault(node.path[-1], (node.token, node.confidence)) != (node.token, node.confidence):
            raise ValueError(f"path: {path_name(node.path)} has another confidence or token in the other tree")
    return {parent: _row(parent, row) for parent, row in known.items()}


def _row(parent: Path, row: dict[int, tuple[int, float]]) -> Candidates:
    width = max(row, default=-1) + 1
    given = math.fsum(confidence for _, confidence in row.values())
    if given > 1 + _ROUNDING:
        raise ValueError(f"confidence: {given:.4g} given below {path_name(parent)} together, allowed is at most 1")
    tokens, confidences = np.full(width, NO_TOKEN, dtype=np.int64), np.zeros(width)
    below = 0.0
    for rank in reversed(range(width)):
        tokens[rank], below = row.get(rank, (NO_TOKEN, below))
        confidences[rank] = below
    if np.any(np.diff(confidences) > 0):
        raise ValueError(f"confidence: rises with rank below {path_name(parent)}, allowed is most confident first")
    return Candidates(tokens, confidences)
