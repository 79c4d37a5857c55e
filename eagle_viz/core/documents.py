"""Drafts as JSON documents, versioned and stable: what ``compare --json`` prints and what the page exports and loads back."""

from __future__ import annotations

import math

from .policies import Draft
from .policies.fixed_order import MAX_RANK
from .readout import Comparison
from .tree import DraftTree, Node, path_name

VERSION = 1
MAX_TOKEN = 2**31 - 1
MAX_LEVELS = 1024
"""What a document may hold: more than any tokenizer or tree has, and what every array here can count."""


def draft_document(draft: Draft) -> dict:
    """A draft in reveal order, the root left out: policy, budget, expected_accepted (bonus not counted), depth, passes, nodes."""
    tree = draft.tree
    return {
        "policy": draft.policy.name,
        "budget": draft.budget,
        "expected_accepted": tree.expected_accepted,
        "depth": tree.depth,
        "passes": draft.passes,
        "nodes": [_node(tree, tree.index[path]) for path in draft.order],
    }


def comparison_document(pair: Comparison) -> dict:
    """Both drafts and the gain (null where static expects nothing)."""
    gain = pair.gain if math.isfinite(pair.gain) else None
    return {"version": VERSION, "static": draft_document(pair.static), "dynamic": draft_document(pair.dynamic), "gain": gain}


def _node(tree: DraftTree, index: int) -> dict:
    node = {
        "path": path_name(tree.paths[index]),
        "confidence": float(tree.confidences[index]),
        "value": float(tree.values[index]),
    }
    token = int(tree.tokens[index])
    return node | ({"token": token} if token >= 0 else {})


def tree_from_document(document: dict) -> DraftTree:
    """The tree of one ``draft_document``; raises ``ValueError`` naming the field, the value and what is allowed.

    Law: ``tree_from_document(draft_document(draft))`` has the draft's paths, confidences and values.
    """
    if not isinstance(document, dict) or not isinstance(document.get("nodes"), list):
        raise ValueError("nodes: missing, a draft document holds a list of nodes with path and confidence")
    return DraftTree.from_nodes(_parse_node(entry) for entry in document["nodes"])


def _parse_node(entry: object) -> Node:
    if not isinstance(entry, dict):
        raise ValueError(f"nodes: {str(entry)[:40]!r} given, allowed are objects with path and confidence")
    path, confidence, token = entry.get("path"), entry.get("confidence"), entry.get("token", -1)
    try:
        ranks = tuple(int(part) for part in path.split("."))
    except (AttributeError, ValueError):
        raise ValueError(f"path: {str(path)[:40]!r} given, allowed are child ranks joined by dots, as in '0.2.1'") from None
    if min(ranks) < 0:
        raise ValueError(f"path: {path[:40]!r} given, allowed are ranks from 0")
    if max(ranks) > MAX_RANK:
        raise ValueError(f"path: rank {str(max(ranks))[:20]} given at path {path[:40]!r}, allowed is 0 to {MAX_RANK}")
    if len(ranks) > MAX_LEVELS:
        raise ValueError(f"path: {len(ranks)} levels given, allowed are at most {MAX_LEVELS}")
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 <= confidence <= 1:
        raise ValueError(f"confidence: {str(confidence)[:40]} given at path {path}, allowed is a number from 0 to 1")
    if isinstance(token, bool) or not isinstance(token, int) or not -1 <= token <= MAX_TOKEN:
        raise ValueError(f"token: {str(token)[:40]!r} given at path {path}, allowed is a whole number from 0 to {MAX_TOKEN}")
    return Node(ranks, token, float(confidence))


def comparison_trees(document: dict) -> tuple[DraftTree, DraftTree]:
    """The static and the dynamic tree of a ``comparison_document``; raises ``ValueError`` as ``tree_from_document`` does."""
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise ValueError(f'Not a draft-tree file (no "version": {VERSION}). See the schema.')
    return tree_from_document(document.get("static")), tree_from_document(document.get("dynamic"))
