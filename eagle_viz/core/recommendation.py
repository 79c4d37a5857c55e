"""Which simulated setting makes most tokens a second at given pass times and batch, and how each engine is asked for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .cost import PassCost, check_rising, speedup
from .curves import Setting
from .documents import VERSION
from .engine_flags import ENGINES, engine_flags
from .policies import POLICIES
from .policies.base import MAX_BUDGET, check_whole
from .simulation import Outcome
from .speed_map import MAX_BATCH


@dataclass(frozen=True)
class Fit:
    """The fastest simulated setting that one engine can express: its ``flags`` and the off-by-one in them (``counting``).

    ``outcome`` None: none of them is faster than plain decoding.
    """

    flags: str = "speculation off"
    counting: str = ""
    outcome: Outcome | None = None
    speedup: float = 1.0


@dataclass(frozen=True)
class Advice:
    """The fastest setting at one batch; ``best`` None: plain decoding is as fast as every setting.

    ``speedup`` against plain decoding at the same batch. ``fits`` by engine. ``extrapolated``: the times given end before the
    largest pass of this setting.
    """

    batch: int
    best: Outcome | None
    speedup: float
    fits: dict[str, Fit]
    extrapolated: bool = False

    @property
    def flags(self) -> dict[str, str]:
        """What to give each engine."""
        return {engine: fit.flags for engine, fit in self.fits.items()}

    @property
    def sentence(self) -> str:
        """What to set, in one sentence."""
        if self.best is None:
            return f"Batch {self.batch}: speculation does not pay; plain decoding is as fast as every simulated setting."
        setting = self.best.setting
        beyond = " (time beyond the last size given: extrapolated)" if self.extrapolated else ""
        return (
            f"Batch {self.batch}: policy {setting.policy}, {setting.told}: {self.speedup:.2f}x plain decoding at tau "
            f"{self.best.tau:.2f}{beyond}."
        )

    def to_json(self) -> dict:
        """One entry of ``batches``; plain decoding has policy None, speedup 1 and tau 1."""
        setting = Setting("", 0) if self.best is None else self.best.setting
        return {
            "batch": self.batch,
            **(vars(setting) | {"policy": setting.policy or None}),
            "speedup": self.speedup,
            "tau": 1.0 if self.best is None else self.best.tau,
            "flags": self.flags,
            "extrapolated": self.extrapolated,
        }


def recommend(outcomes: Sequence[Outcome], cost: PassCost, batch: int = 1) -> Advice:
    """The setting of largest speedup, (tau * t(B)) / (t(B (nodes + 1)) + passes * c), for B requests verified together.

    ``nodes`` is the mean tree's size: the budget, or less where a policy ends its trees itself. A draft pass costs
    ``cost.draft_ms`` at every batch. Raises ``ValueError`` for a bad batch, falling times, or no outcome.
    Law: no simulated setting is faster, and of equal ones the smaller budget is named.
    """
    check_whole("batch", batch, 1, MAX_BATCH)
    check_rising(cost)
    if not outcomes:
        raise ValueError("rows: none given, at least one simulated setting is needed")
    budgets = np.array([one.setting.budget for one in outcomes])
    gains = speedup(
        cost, [one.tau - 1 for one in outcomes], [one.nodes for one in outcomes], [one.passes for one in outcomes], batch
    )
    order = np.lexsort((budgets, -gains))
    best = int(order[0])
    if gains[best] <= 1:
        return Advice(batch, None, 1.0, dict.fromkeys(ENGINES, Fit()))
    beyond = batch * (int(budgets[best]) + 1) > cost.sizes[-1]
    return Advice(
        batch, outcomes[best], float(gains[best]), _fits([(outcomes[i], float(gains[i])) for i in order if gains[i] > 1]), beyond
    )


def _fits(ranked: Sequence[tuple[Outcome, float]]) -> dict[str, Fit]:
    """For each engine the first setting, fastest first, that it builds unchanged."""
    found: dict[str, Fit] = {}
    for one, gain in ranked:
        for flags in _expressed(one.setting):
            if not flags.change:
                found.setdefault(flags.engine, Fit(flags.text, flags.counting, one, gain))
        if len(found) == len(ENGINES):
            break
    return {engine: found.get(engine, Fit()) for engine in ENGINES}


def _expressed(setting: Setting) -> tuple:
    if setting.early_stop or setting.threshold is not None:
        return ()  # these engines draft as many levels as they were told
    policy = POLICIES[setting.policy]
    given = {name: value for name in ("max_depth", "top_k") if (value := getattr(setting, name)) is not None}
    asked = policy(**given).engine_setting(setting.budget)
    return () if asked is None else engine_flags(*asked)


# -- the simulation's file ---------------------------------------------------------------------------------------------


def row_of(one: Outcome) -> dict:
    """One entry of ``rows``; ``outcomes_from`` reads it."""
    numbers = {name: getattr(one, name) for name in ("tau", "low", "high", "passes", "nodes")}
    return vars(one.setting) | numbers


def outcomes_from(document: object) -> list[Outcome]:
    """The rows of a document that ``simulate --json`` printed; raises ``ValueError`` naming field, value and what is allowed."""
    if not isinstance(document, dict) or document.get("version") != VERSION:
        version = document.get("version") if isinstance(document, dict) else None
        raise ValueError(f"version: {version!r} given in the simulation, allowed is {VERSION}")
    rows = document.get("rows")
    if not isinstance(rows, list) or not rows:
        raise ValueError("rows: none given in the simulation, allowed is a list of one or more")
    return [_outcome(number, row) for number, row in enumerate(rows, start=1)]


def _outcome(number: int, row: object) -> Outcome:
    if not isinstance(row, dict) or row.get("policy") not in list(POLICIES):
        raise ValueError(f"rows: row {number} has no known policy, allowed is one of {', '.join(POLICIES)}")
    numbers = {name: row.get(name) for name in ("tau", "passes")}
    for name, value in numbers.items():
        if not _is_number(value) or value < (name == "tau"):
            raise ValueError(f"rows: row {number} has {name} {value!r}, allowed is {int(name == 'tau')} or more")
    budget = check_whole(f"rows: row {number}, budget", row.get("budget"), 1, MAX_BUDGET)
    early = row.get("early_stop")
    if early not in (None, False, True):
        raise ValueError(f"rows: row {number} has early_stop {early!r}, allowed is true, false or null")
    sizes = [_size(number, name, row.get(name)) for name in ("max_depth", "top_k")]
    known = {parameter.name for parameter in POLICIES[row["policy"]].parameters}
    for name in ("max_depth", "top_k", "early_stop"):
        if row.get(name) is not None and name not in known:
            raise ValueError(f"rows: row {number} has {name} {row[name]!r}, allowed is null: {row['policy']} has no {name}")
    threshold, stops = row.get("threshold"), POLICIES[row["policy"]].stops
    if (threshold is not None) != stops or (stops and not _is_number(threshold)):
        allowed = f"a number: {row['policy']} ends its trees by it" if stops else f"null: {row['policy']} has none"
        raise ValueError(f"rows: row {number} has threshold {threshold!r}, allowed is {allowed}")
    bounds = [row[name] if _is_number(row.get(name)) else math.nan for name in ("low", "high")]
    nodes = row["nodes"] if _is_number(row.get("nodes")) and 0 <= row["nodes"] <= budget else budget
    setting = Setting(row["policy"], budget, *sizes, early, threshold)
    return Outcome(setting, float(row["tau"]), *bounds, float(row["passes"]), float(nodes))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _size(number: int, name: str, value: object) -> int | None:
    return None if value is None else check_whole(f"rows: row {number}, {name}", value, 1, 256)
