"""The layout of a recording's file: a JSON header, and flat arrays that lay the cycles end to end.

Expanded nodes of all cycles end to end (M in all), canonical order within a cycle, the root first:
  node_parent [M] parent's index among the cycle's expanded nodes (0 for the root), node_rank [M] its rank below it,
  node_width [M] how many candidates it has, child_token [M, K], child_confidence [M, K] float32 and child_target [M, K]
  float32 (NaN: not known; left out where the target itself drafted, so that both are the same), zeros behind the width.
Floats lie in byte planes, because high bytes of neighbours are alike and pack well apart from the low ones; the target's
probabilities are cut to one part in 4,096, the confidences kept whole, because trees depend on them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from ..greedy import GreedyCalibration
from ..hashing import on_grid
from ..landscape import Candidates, RecordedLandscape, average_table
from ..tree import ROOT, Path, canonical_order, sendable
from .checks import RecordingError, check_tables
from .model import TOP_K, GreedyReading, LiveVerdict, RecordedCycle, Recording

VERSION = 1


def encode(recording: Recording) -> dict[str, np.ndarray]:
    """The arrays of a recording's file, the JSON header among them as bytes."""
    tables = [_encode_cycle(cycle) for cycle in recording.cycles]
    header = {
        "version": VERSION,
        **{name: getattr(recording, name) for name in ("name", "title", "kind", "prompt", "target", "drafter")},
        **{name: getattr(recording, name) for name in ("prompt_length", "answer_length", "pieces", "average")},
        "greedy": _greedy_header(recording.greedy),
        "made": dict(recording.made),
        "texts": {str(token): text for token, text in recording.texts.items()},
        "cycles": [_cycle_header(cycle) for cycle in recording.cycles],
    }
    joined = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    confidence, target = joined.pop("child_confidence"), joined.pop("child_target")
    prices = {"child_confidence": _planes(confidence)}
    if not np.array_equal(confidence, target):
        prices["child_target"] = _planes((target.view(np.uint32) & np.uint32(0xFFFFF800)).view(np.float32))
    text = json.dumps(header, ensure_ascii=False).encode()
    return {"header": np.frombuffer(text, dtype=np.uint8), "tokens": np.array(recording.tokens, dtype=np.int32), **joined, **prices}


def _greedy_header(greedy: GreedyReading | None) -> dict | None:
    return None if greedy is None else {**greedy.calibration.to_json(), "average": greedy.average}


def _cycle_header(cycle: RecordedCycle) -> dict:
    verdicts = [[v.policy, v.budget, list(v.path), v.bonus] for v in cycle.verdicts]
    return {
        "position": cycle.position,
        "nodes": len(cycle.landscape.candidates),
        "continuation": len(cycle.continuation),
        "verdicts": verdicts,
        "seconds": dict(cycle.seconds),
    }


def _encode_cycle(cycle: RecordedCycle) -> dict[str, np.ndarray]:
    candidates = cycle.landscape.candidates
    paths = sorted(candidates, key=canonical_order)
    index = {path: i for i, path in enumerate(paths)}
    rows = [candidates[path] for path in paths]
    return {
        "node_parent": np.array([index[path[:-1]] for path in paths], dtype=np.uint16),
        "node_rank": np.array([path[-1] if path else 0 for path in paths], dtype=np.uint8),
        "node_width": np.array([len(row) for row in rows], dtype=np.uint8),
        "child_token": _padded([row.tokens for row in rows], np.int32),
        "child_confidence": _padded([row.confidences for row in rows], np.float32),
        "child_target": _padded([_target_or_nan(row) for row in rows], np.float32),
    }


def _target_or_nan(row: Candidates) -> np.ndarray:
    return np.full(len(row), np.nan) if row.target_probabilities is None else row.target_probabilities


def _padded(rows: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    table = np.zeros((len(rows), TOP_K), dtype=dtype)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def _planes(values: np.ndarray) -> np.ndarray:
    """[M, K] float32 as [4, M, K] bytes, lowest first."""
    return np.moveaxis(values.astype("<f4")[..., None].view(np.uint8), -1, 0)


def _from_planes(planes: np.ndarray) -> np.ndarray:
    if planes.dtype != np.uint8 or planes.ndim != 3 or len(planes) != 4:
        raise RecordingError(f"holds confidences as {planes.dtype} {planes.shape}, expected four byte planes")
    return np.ascontiguousarray(np.moveaxis(planes, 0, -1)).view("<f4")[..., 0]


def decode(arrays: Mapping[str, np.ndarray]) -> Recording:
    """The recording that a file's arrays hold; raises ``RecordingError`` for what would make a wrong tree or a crash later.

    Law: the inverse of ``encode``.
    """
    header = _header(arrays["header"].tobytes().decode())
    if not isinstance(header, dict) or header.get("version") != VERSION:
        found = header.get("version") if isinstance(header, dict) else None
        raise RecordingError(f"has version {found!r}, this program reads version {VERSION}")
    tables = _tables(arrays)
    check_tables(header, arrays["tokens"], tables)
    tokens = tuple(arrays["tokens"].tolist())
    texts = _said(header, tokens) | {int(token): str(text) for token, text in header["texts"].items()}
    average = None if header["average"] is None else average_table(header["average"])
    starts = np.cumsum([0, *(entry["nodes"] for entry in header["cycles"])])
    cycles = []
    for entry, start in zip(header["cycles"], starts.tolist(), strict=False):
        part = {name: table[start : start + entry["nodes"]] for name, table in tables.items()}
        landscape = RecordedLandscape(_LazyCandidates(part), tokens[entry["position"]], texts, average)
        cycles.append(_cycle(entry, landscape, tokens, int(header["prompt_length"]) + int(header["answer_length"])))
    return Recording(
        **{name: str(header[name]) for name in ("name", "title", "kind", "prompt", "target", "drafter")},
        tokens=tokens,
        prompt_length=int(header["prompt_length"]),
        answer_length=int(header["answer_length"]),
        pieces=tuple(map(str, header["pieces"])),
        texts=texts,
        cycles=tuple(cycles),
        average=average,
        greedy=_greedy(header.get("greedy")),
        made=dict(header["made"]),
    )


def _greedy(entry: object) -> GreedyReading | None:
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise RecordingError(f"has greedy {entry!r}, allowed is an object or null")
    average = entry.get("average")
    calibration = GreedyCalibration.from_json({name: value for name, value in entry.items() if name != "average"})
    return GreedyReading(calibration, None if average is None else average_table(average))


def _header(text: str) -> object:
    """The JSON header, half characters in its texts replaced: nothing else could be sent to a page or written to a terminal."""
    header = json.loads(text)
    escaped = "\\ud" in text.lower()
    return json.loads(sendable(json.dumps(header, ensure_ascii=False))) if escaped else header


def _said(header: Mapping, tokens: Sequence[int]) -> dict[int, str]:
    """What the answer's own tokens read as: the target may say one that no drafter guessed."""
    answer = zip(tokens[int(header["prompt_length"]) :], header["pieces"], strict=False)
    return {token: str(piece) for token, piece in answer if piece}


def _cycle(entry: Mapping, landscape: RecordedLandscape, tokens: Sequence[int], end: int) -> RecordedCycle:
    """One cycle; ``end`` is the index behind the answer."""
    position = int(entry["position"])
    verdicts = tuple(LiveVerdict(str(p), int(b), tuple(map(int, path)), int(bonus)) for p, b, path, bonus in entry["verdicts"])
    seconds = {str(name): float(value) for name, value in entry["seconds"].items()}
    following = tuple(tokens[position + 1 : position + 1 + int(entry["continuation"])])
    return RecordedCycle(position, landscape, following, verdicts, seconds, room=end - 1 - position)


def _tables(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    tables = {name: arrays[name] for name in ("node_parent", "node_rank", "node_width", "child_token")}
    confidence = _from_planes(arrays["child_confidence"])
    target = _from_planes(arrays["child_target"]) if "child_target" in arrays else confidence
    return tables | {"child_confidence": confidence, "child_target": target}


class _LazyCandidates(Mapping[Path, Candidates]):
    """A cycle's candidates by path, made from the file's arrays when first asked for."""

    def __init__(self, table: Mapping[str, np.ndarray]) -> None:
        self._table = table

    @cached_property
    def _row(self) -> dict[Path, int]:
        paths: list[Path] = [ROOT]
        parents, ranks = self._table["node_parent"].tolist(), self._table["node_rank"].tolist()
        for parent, rank in zip(parents[1:], ranks[1:], strict=True):
            paths.append((*paths[parent], rank))
        return {path: row for row, path in enumerate(paths)}

    def __getitem__(self, path: Path) -> Candidates:
        row = self._row[path]
        width = self._table["node_width"][row]
        tokens, confidences, target = (self._table[f"child_{name}"][row, :width] for name in ("token", "confidence", "target"))
        known = None if np.isnan(target).any() else target.astype(np.float64)
        return Candidates(tokens.astype(np.int64), on_grid(confidences), known)

    def __contains__(self, path: object) -> bool:
        return path == ROOT or path in self._row

    def __iter__(self):
        return iter(self._row)

    def __len__(self) -> int:
        return len(self._table["node_parent"])
