"""Recordings: the cycles of one prompt with everything that budgets and policies need to be replayed without the model.

A recording is one ``.npz`` file: a JSON header, and flat arrays that lay the cycles end to end. Nothing in it is pickled.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath

import numpy as np

from .hashing import on_grid
from .landscape import AverageTable, Candidates, RecordedLandscape, average_table
from .places import models
from .tree import NO_TOKEN, ROOT, DraftTree, Path, canonical_order, sendable
from .verification import Verdict

VERSION = 1
MAX_BUDGET = 128
TOP_K = 10
MAX_DEPTH = 12
"""What a recording answers for: budgets up to 128, 10 candidates a node, and 12 levels for the policies that take a depth."""
MAX_BYTES = 256 * 2**20
"""A file that unpacks to more is refused, so that a hostile one cannot fill the memory."""
FOLDER = models() / "recordings"


class RecordingError(ValueError):
    """A file is not a recording that this version reads; the message says what is wrong with it."""


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
    landscape: RecordedLandscape
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


@dataclass(frozen=True, eq=False)
class Recording:
    """The cycles of one prompt.

    ``drafter`` "oracle" (the target itself) or a head's name; ``target`` who verified. ``tokens`` prompt in its chat template,
    answer, and a tail that only continuations use: ``prompt_length`` and ``answer_length`` count the first two. ``pieces[i]``
    is the text that answer token i adds. ``texts`` what each candidate token reads as. ``average`` the table of average
    confidences over the *other* recordings made with it, for ``best_static`` (None: there were none).
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
    made: Mapping[str, object] = field(default_factory=dict)

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

    def answer_index(self, cycle: int) -> int:
        """Index of this cycle's root among the answer's tokens, 0 first."""
        return self.cycles[cycle].position - self.prompt_length

    @property
    def tau(self) -> dict[str, float]:
        """Tokens written per verify pass by each compared policy live on these contexts, bonus counted, by ``"policy budget"``."""
        lengths: dict[str, list[int]] = {}
        for cycle in self.cycles:
            for verdict in cycle.verdicts:
                lengths.setdefault(f"{verdict.policy} {verdict.budget}", []).append(cycle.written(verdict.accept_length))
        return {name: sum(found) / len(found) for name, found in lengths.items()}


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


# -- finding, reading and writing --------------------------------------------------------------------------------------


def shipped(folder: FilePath = FOLDER) -> dict[str, FilePath]:
    """The recordings in a folder by name, in order; the package's own by default. Nothing is opened."""
    return {path.stem: path for path in sorted(folder.glob("*.npz"))}


def read(source: FilePath | str | bytes) -> Recording:
    """Read and check a recording from a path, or from the bytes of one; raises ``RecordingError`` in one sentence.

    Law: ``read`` after ``write`` gives confidences equal to the drafter's float32 ones on the 2^-40 grid.
    """
    label = "the file" if isinstance(source, bytes) else FilePath(source).name
    try:
        arrays = _unpack(io.BytesIO(source) if isinstance(source, bytes) else FilePath(source))
        return _decode(arrays)
    except RecordingError as error:
        raise RecordingError(f"recording: {label} {error}") from None
    except _BROKEN as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise RecordingError(f"recording: {label} is not a recording made by `python -m eagle_viz record` ({reason})") from error


_BROKEN = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What a foreign file can raise while it is unpacked (zip, compression, numpy's headers) and taken for a recording."""


def write(recording: Recording, path: FilePath) -> FilePath:
    """Write a recording to ``path`` (ending in .npz), whole or not at all."""
    if path.suffix != ".npz":
        raise ValueError(f"path: {path.name!r} given, a recording's name ends in .npz")
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    with draft.open("wb") as file:
        np.savez_compressed(file, **_encode(recording))
    return draft.replace(path)


def _unpack(source: io.BytesIO | FilePath) -> dict[str, np.ndarray]:
    with zipfile.ZipFile(source) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > MAX_BYTES:
        raise RecordingError(f"unpacks to {size / 2**20:.0f} MB, allowed is {MAX_BYTES // 2**20}")
    if isinstance(source, io.BytesIO):
        source.seek(0)
    with np.load(source, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


# -- the layout of a file ----------------------------------------------------------------------------------------------
#
# Expanded nodes of all cycles end to end (M in all), canonical order within a cycle, the root first:
#   node_parent [M] parent's index among the cycle's expanded nodes (0 for the root), node_rank [M] its rank below it,
#   node_width [M] how many candidates it has, child_token [M, K], child_confidence [M, K] float32 and child_target [M, K]
#   float32 (NaN: not known; left out where the target itself drafted, so that both are the same), zeros behind the width.
# Floats lie in byte planes, because high bytes of neighbours are alike and pack well apart from the low ones; the target's
# probabilities are cut to one part in 4,096, the confidences kept whole, because trees depend on them.


def _encode(recording: Recording) -> dict[str, np.ndarray]:
    tables = [_encode_cycle(cycle) for cycle in recording.cycles]
    header = {
        "version": VERSION,
        **{name: getattr(recording, name) for name in ("name", "title", "kind", "prompt", "target", "drafter")},
        **{name: getattr(recording, name) for name in ("prompt_length", "answer_length", "pieces", "average")},
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


def _decode(arrays: Mapping[str, np.ndarray]) -> Recording:
    header = _header(arrays["header"].tobytes().decode())
    if not isinstance(header, dict) or header.get("version") != VERSION:
        found = header.get("version") if isinstance(header, dict) else None
        raise RecordingError(f"has version {found!r}, this program reads version {VERSION}")
    tables = _tables(arrays)
    _check_tables(header, arrays["tokens"], tables)
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
        made=dict(header["made"]),
    )


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


def _check_tables(header: Mapping, tokens: np.ndarray, tables: Mapping[str, np.ndarray]) -> None:
    """Whatever would make a wrong tree or a crash later is refused here, in words."""
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
