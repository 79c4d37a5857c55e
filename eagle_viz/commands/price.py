"""``simulate`` and ``recommend``: what every setting accepts on recorded contexts, and which one pays at given pass times."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from ..core.cost import EXAMPLE, parse_times, price_warnings
from ..core.documents import VERSION
from ..core.recommendation import Advice, outcomes_from, recommend, row_of
from ..core.recording import read
from ..core.simulation import simulate
from .parser import print_json, say

COLUMNS = ("policy", "budget", "max_depth", "top_k", "early_stop", "threshold", "tau", "low", "high", "passes", "nodes")


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register both commands."""
    simulation = commands.add_parser("simulate", help="tau and passes of every budget, depth and top_k on recorded contexts")
    simulation.add_argument("--recordings", nargs="+", required=True, help="recorded files of one drafter; no model is needed")
    simulation.add_argument("--kinds", action="store_true", help="tau by kind of text beside each row (JSON only)")
    shape = simulation.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    shape.add_argument("--csv", action="store_true", help="comma-separated rows instead of text")
    simulation.set_defaults(run=run_simulate)
    advice = commands.add_parser("recommend", help="the setting that makes most tokens a second at your pass times")
    advice.add_argument("--simulation", required=True, help="a file printed by simulate --json")
    advice.add_argument("--times", required=True, help=f"positions:milliseconds of a target pass, as in {EXAMPLE!r}")
    advice.add_argument("--batch", nargs="+", type=int, default=[1], help="requests verified together (default 1)")
    advice.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    advice.set_defaults(run=run_recommend)


def run_simulate(args: argparse.Namespace) -> int:
    """Print all rows as JSON or CSV, or the setting of largest tau of each policy as text."""
    if args.kinds and not args.json:
        raise ValueError("kinds: given without --json, allowed only with it")
    recordings = [read(path) for path in args.recordings]
    drafters = {(recording.target, recording.drafter) for recording in recordings}
    if len(drafters) > 1:
        raise ValueError(f"recordings: {len(drafters)} pairs of target and drafter given, allowed is one")
    contexts = [(recording.kind, cycle) for recording in recordings for cycle in recording.cycles]
    outcomes = simulate(contexts, report=_progress())
    rows = [row_of(one) for one in outcomes]
    if args.json:
        kinds = [{"by_kind": dict(one.by_kind)} if args.kinds else {} for one in outcomes]
        rows = [row | kind for row, kind in zip(rows, kinds, strict=True)]
        print_json({"version": VERSION, "contexts": len(contexts), "rows": rows})
    elif args.csv:
        writer = csv.DictWriter(sys.stdout, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    else:
        _print_largest(rows, len(contexts))
    return 0


def _progress() -> Callable[[int, int], None]:
    """Says every tenth context how many are done and the seconds left."""
    began = monotonic()

    def report(done: int, of: int) -> None:
        if done % 10 == 0 or done == of:
            say(f"{done} of {of} contexts, {(monotonic() - began) * (of - done) / done:.0f} s left")

    return report


def _print_largest(rows: list[dict], contexts: int) -> None:
    print(f"{contexts} contexts, {len(rows)} settings; the largest tau (tokens a verify pass) of each policy, 95 % interval")
    for policy in dict.fromkeys(row["policy"] for row in rows):
        best = max((row for row in rows if row["policy"] == policy), key=lambda row: row["tau"])
        told = ", ".join(f"{name} {best[name]}" for name in COLUMNS[1:6] if best[name] is not None)
        print(f"{policy:<12} tau {best['tau']:.2f} ({best['low']:.2f} to {best['high']:.2f}), {best['passes']:.1f} passes: {told}")


def run_recommend(args: argparse.Namespace) -> int:
    """Print the fastest setting at each batch with the engines' flags."""
    cost = parse_times("given times", args.times)
    try:
        document = json.loads(Path(args.simulation).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ValueError(f"simulation: {args.simulation} is not JSON, allowed is a file printed by simulate --json") from None
    outcomes = outcomes_from(document)
    found = [recommend(outcomes, cost, batch) for batch in args.batch]
    largest = max(one.setting.budget for one in outcomes)
    warnings = []
    for one in found:
        best = {} if one.best is None else {one.best.setting.policy: one.best.setting.budget}
        warnings += price_warnings(cost, best, largest, one.batch)
    for warning in dict.fromkeys(warnings):
        say(warning)
    if args.json:
        print_json({"version": VERSION, "batches": [one.to_json() for one in found]})
        return 0
    for one in found:
        _print_advice(one)
    return 0


def _print_advice(one: Advice) -> None:
    print(one.sentence)
    for engine, text in one.flags.items():
        print(f"  {engine:<13} {text}")
