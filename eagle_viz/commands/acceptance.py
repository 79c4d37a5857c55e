"""``acceptance``: what another engine's file says about its speculative decoding, and what looks wrong in it."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..core.documents import VERSION
from ..imports import FORMATS, Acceptance, check, difference, read_acceptance
from ..imports.difference import Difference
from .parser import print_json


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register the command."""
    parser = commands.add_parser("acceptance", help="acceptance numbers of another engine: tau, rates by position, checks")
    parser.add_argument("file", type=Path, help=f"{'; '.join(FORMATS)}".replace("%", "%%"))
    parser.add_argument("second", type=Path, nargs="?", help="another run, compared with the first by position")
    parser.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    parser.set_defaults(run=run_acceptance)


def run_acceptance(args: argparse.Namespace) -> int:
    """Print one file's numbers, or two files' and their difference."""
    paths = [path for path in (args.file, args.second) if path is not None]
    found = [_read(path) for path in paths]
    gap = difference(*found) if len(found) == 2 else None
    if args.json:
        documents = [file_document(path.name, one) for path, one in zip(paths, found, strict=True)]
        if gap is not None:
            documents[-1]["notes"] += [gap.sentence, *(f"Position {one.position}: {one.text}." for one in gap.positions)]
        print_json({"version": VERSION, "files": documents})
        return 0
    for path, one in zip(paths, found, strict=True):
        _print(path.name, one)
    if gap is not None:
        _print_difference(gap)
    return 0


def _read(path: Path) -> Acceptance:
    try:
        return read_acceptance(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def file_document(name: str, found: Acceptance) -> dict:
    """One entry of ``files``: file, format, tau (bonus counted), passes, positions, notes; what is not known is None."""
    return {
        "file": name,
        "format": found.format,
        "tau": found.tau,
        "passes": found.passes,
        "positions": [position.to_json() for position in found.positions],
        "notes": [found.meaning, *found.remarks, *check(found)],
    }


def _print(name: str, found: Acceptance) -> None:
    print(f"{name} ({found.format}): tau {_told(found.tau)}, passes {'unknown' if found.passes is None else found.passes}")
    if found.positions:
        print(f"{'position':>10}{'rate':>8}{'95 % interval':>18}{'passes':>9}")
    for one in found.positions:
        interval = "unknown" if one.low is None else f"{one.low:.3f} to {one.high:.3f}"
        print(f"{one.position:>10}{_told(one.rate):>8}{interval:>18}{'unknown' if one.trials is None else one.trials:>9}")
    if found.histogram is not None:
        print(f"passes that accepted 0, 1, 2 ... drafted tokens: {', '.join(map(str, found.histogram))}")
    for note in (found.meaning, *found.remarks, *check(found)):
        print(f"- {note}")


def _print_difference(gap: Difference) -> None:
    for one in gap.positions:
        print(f"position {one.position}: {one.text}{'' if one.real else ', no more than noise'}")
    print(gap.sentence)


def _told(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"
