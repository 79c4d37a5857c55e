"""Recordings: what one holds (`model`), how it lies in a file (`layout`, `checks`), finding, reading and writing (`file`)."""

from .checks import RecordingError
from .file import FOLDER, MAX_BYTES, read, shipped, write
from .model import (
    MAX_BUDGET,
    MAX_DEPTH,
    TOP_K,
    GreedyReading,
    LiveVerdict,
    RecordedCycle,
    Recording,
    average_confidences,
    follow,
    read_in,
)

__all__ = [
    "FOLDER",
    "MAX_BUDGET",
    "MAX_BYTES",
    "MAX_DEPTH",
    "TOP_K",
    "GreedyReading",
    "LiveVerdict",
    "RecordedCycle",
    "Recording",
    "RecordingError",
    "average_confidences",
    "follow",
    "read_in",
    "read",
    "shipped",
    "write",
]
