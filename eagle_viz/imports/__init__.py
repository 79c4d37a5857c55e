"""Acceptance numbers that other engines wrote: one small reader a format, one result for all. numpy and the core, nothing else."""

from .acceptance import Acceptance, Position
from .chain import EndingLandscape
from .checks import check
from .difference import difference
from .recognise import FORMATS, MAX_BYTES, UnknownFormatError, read_acceptance

__all__ = [
    "FORMATS",
    "MAX_BYTES",
    "Acceptance",
    "EndingLandscape",
    "Position",
    "UnknownFormatError",
    "check",
    "difference",
    "read_acceptance",
]
