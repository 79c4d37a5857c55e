"""Finding, reading and writing recordings: one ``.npz`` file each, in which nothing is pickled."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path

import numpy as np

from ..places import models
from .checks import RecordingError
from .layout import decode, encode
from .model import Recording

MAX_BYTES = 256 * 2**20
"""A file that unpacks to more is refused, so that a hostile one cannot fill the memory."""
FOLDER = models() / "recordings"


def shipped(folder: Path = FOLDER) -> dict[str, Path]:
    """The recordings in a folder by name, in order; the package's own by default. Nothing is opened."""
    return {path.stem: path for path in sorted(folder.glob("*.npz"))}


def read(source: Path | str | bytes) -> Recording:
    """Read and check a recording from a path, or from the bytes of one; raises ``RecordingError`` in one sentence.

    Law: ``read`` after ``write`` gives confidences equal to the drafter's float32 ones on the 2^-40 grid.
    """
    label = "the file" if isinstance(source, bytes) else Path(source).name
    try:
        arrays = _unpack(io.BytesIO(source) if isinstance(source, bytes) else Path(source))
        return decode(arrays)
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


def write(recording: Recording, path: Path) -> Path:
    """Write a recording to ``path`` (ending in .npz), whole or not at all."""
    if path.suffix != ".npz":
        raise ValueError(f"path: {path.name!r} given, a recording's name ends in .npz")
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    with draft.open("wb") as file:
        np.savez_compressed(file, **encode(recording))
    return draft.replace(path)


def _unpack(source: io.BytesIO | Path) -> dict[str, np.ndarray]:
    with zipfile.ZipFile(source) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > MAX_BYTES:
        raise RecordingError(f"unpacks to {size / 2**20:.0f} MB, allowed is {MAX_BYTES // 2**20}")
    if isinstance(source, io.BytesIO):
        source.seek(0)
    with np.load(source, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
