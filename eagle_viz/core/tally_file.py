"""A text's tally on disk, so that a simulation that was stopped goes on where it was: numbers only, nothing is pickled."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from .curves import Setting
from .recording import MAX_BUDGET
from .simulation import Tally

VERSION = 1
_TABLES = ("written", "squares", "passes", "nodes")


def write_tally(path: Path, kind: str, tally: Tally) -> Path:
    """Write one text's tally and its kind, whole or not at all."""
    header = {"version": VERSION, "kind": kind, "count": tally.count, "settings": [asdict(one) for one in tally.settings]}
    tables = {name: getattr(tally, name).astype(np.int64) for name in (*_TABLES, "last")}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    with draft.open("wb") as file:
        np.savez_compressed(file, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **tables)
    return draft.replace(path)


def read_tally(path: Path) -> tuple[str, Tally]:
    """The kind and the tally of one text; raises ``ValueError`` in one sentence for anything that ``write_tally`` did not write."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop("header").tobytes())
        if header["version"] != VERSION:
            raise ValueError(f"version {header['version']!r}")
        settings = tuple(Setting(**one) for one in header["settings"])
        shape = (len(settings), MAX_BUDGET + 1)
        if any(arrays[name].shape != shape for name in _TABLES) or arrays["last"].shape != shape[:1]:
            raise ValueError("tables of another size")
        return str(header["kind"]), Tally(settings, int(header["count"]), **arrays)
    except (OSError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        reason = " ".join(str(error).split())[:80]
        raise ValueError(
            f"keep: {path.name} holds no simulated text of this program ({reason}); remove it to simulate it again"
        ) from None
