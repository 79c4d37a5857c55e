"""What a recording's arrays must be: whatever would make a wrong tree or a crash later is refused here, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


class RecordingError(ValueError):
    """A file is not a recording that this version reads; the message says what is wrong with it."""


def check_tables(header: Mapping, tokens: np.ndarray, tables: Mapping[str, np.ndarray]) -> None:
    """Raise ``RecordingError`` for tokens [T], tables [M] or [M, K] and a header that do not fit together."""
    _check_arrays(tokens, tables)
    if len(header["pieces"]) != header["answer_length"]:
        raise RecordingError(f"has {len(header['pieces'])} pieces of text for {header['answer_length']} answer tokens")
    nodes = [entry["nodes"] for entry in header["cycles"]]
    if not nodes or min(nodes) < 1:
        raise RecordingError("holds no cycle, or a cycle without its root's candidates")
    if {len(table) for table in tables.values()} != {sum(nodes)}:
        raise RecordingError(f"promises {sum(nodes)} expanded nodes, but its arrays differ from that")
    confidence, target = tables["child_confidence"], tables["child_target"]
    if not ((confidence >= 0) & (confidence <= 1)).all() or (np.diff(confidence, axis=1) > 0).any():
        raise RecordingError("holds confidences outside 0 to 1 or not most confident first")
    if (confidence.sum(axis=1, dtype=np.float64) > 1 + 1e-5).any() or (target < 0).any() or (target > 1).any():
        raise RecordingError("holds probabilities of one node's candidates that pass 1")
    for entry in header["cycles"]:
        if not header["prompt_length"] <= entry["position"] < header["prompt_length"] + header["answer_length"] <= len(tokens):
            raise RecordingError(f"has a cycle at position {entry['position']}, outside its answer")
    _check_nodes(nodes, tables)


def _check_arrays(tokens: np.ndarray, tables: Mapping[str, np.ndarray]) -> None:
    wanted = {"node_parent": 1, "node_rank": 1, "node_width": 1, "child_token": 2}
    for name, array, axes in (("tokens", tokens, 1), *((name, tables[name], axes) for name, axes in wanted.items())):
        if array.ndim != axes or array.dtype.kind not in "iu":
            raise RecordingError(f"holds {name} as {array.dtype} {array.shape}, expected whole numbers along {axes} axes")
    shapes = {tables[name].shape for name in ("child_token", "child_confidence", "child_target")}
    if len(shapes) != 1:
        raise RecordingError(f"holds candidates in different shapes: {sorted(shapes)}")


def _check_nodes(nodes: Sequence[int], tables: Mapping[str, np.ndarray]) -> None:
    index = np.concatenate([np.arange(count) for count in nodes])
    parent, rank, width = (tables[name].astype(np.int64) for name in ("node_parent", "node_rank", "node_width"))
    if (width < 1).any() or (width > tables["child_token"].shape[1]).any():
        raise RecordingError("holds a node without candidates, or with more than it has room for")
    if ((parent >= index) & (index > 0)).any():
        raise RecordingError("holds a node before its parent")
    starts = np.repeat(np.cumsum([0, *nodes[:-1]]), nodes)
    if ((rank >= width[starts + np.where(index > 0, parent, 0)]) & (index > 0)).any():
        raise RecordingError("holds a node of a rank that its parent does not have")
