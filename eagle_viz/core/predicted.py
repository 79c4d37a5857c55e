"""The shipped table of predicted against measured speeds: what ``bench predict --json`` printed."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

from .documents import VERSION
from .places import models
from .prediction import Predicted, PredictionReport

FILE = models() / "predicted.json"


@dataclass(frozen=True)
class PredictionRun:
    """A report and how it was made: ``prompts`` of the file ``source``, answers of at most ``max_new_tokens``, ``rounds`` of
    decoding on ``cores`` processor cores.
    """

    report: PredictionReport
    source: str
    prompts: int
    max_new_tokens: int
    rounds: int
    cores: int


def read_predicted(path: Path = FILE) -> PredictionRun:
    """Read a table; raises ``ValueError`` in one sentence where it cannot be used.

    Law: the inverse of what ``bench predict --json`` prints; errors and their summary are worked out anew from the rows.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["version"] != VERSION:
            raise ValueError(f"version {found['version']!r}, this program reads version {VERSION}")
        run, names = found["run"], [field.name for field in fields(Predicted)]
        rows = tuple(Predicted(**{name: row[name] for name in names}) for row in found["rows"])
        numbers = (int(run[name]) for name in ("count", "max_new_tokens", "rounds", "cores"))
        return PredictionRun(PredictionReport(rows), str(run["prompts"]), *numbers)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:160]
        raise ValueError(f"predicted: {path.name} is not what `bench predict --json` prints ({reason})") from error
