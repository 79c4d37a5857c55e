"""``simulate`` and ``recommend``: what every setting writes on known texts, and which one pays at given pass times."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from ..core.cost import EXAMPLE, PassCost, parse_times, price_warnings
from ..core.documents import VERSION
from ..core.recommendation import Advice, outcomes_from, recommend, row_of
from ..core.recording import read, read_in
from ..core.roofline import ACCELERATORS, roofline
from ..core.simulation import Tally, outcomes, tally, whole
from ..imports.sglang_times import read_times
from .known_texts import FORMAT, simulated_texts
from .model import add_model, add_reading
from .parser import print_json, say

COLUMNS = ("policy", "budget", "max_depth", "top_k", "early_stop", "threshold", "tau", "low", "high", "passes", "nodes")
LIVE = ("keep", "limit", "max_new_tokens", "target", "head", "drafter", "dtype")
"""Options that nothing recorded depends on."""


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register both commands."""
    _add_simulate(commands.add_parser("simulate", help="tau and passes of every budget, depth and top_k on known texts"))
    advice = commands.add_parser("recommend", help="the setting that makes most tokens a second at your pass times")
    advice.add_argument("--simulation", required=True, help="a file printed by simulate --json")
    times = advice.add_mutually_exclusive_group(required=True)
    times.add_argument("--times", help=f"positions:milliseconds of a target pass, as in {EXAMPLE!r}")
    times.add_argument("--times-file", help="a file with such times, or with the rows of SGLang's bench_speculative.py")
    times.add_argument("--accelerator", choices=tuple(ACCELERATORS), help="times estimated from the data sheet of this chip")
    advice.add_argument("--billions", type=float, help="with --accelerator: parameters of the target, in billions (default 8.03)")
    advice.add_argument("--batch", nargs="+", type=int, default=[1], help="requests verified together (default 1)")
    advice.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    advice.set_defaults(run=run_recommend)


def _add_simulate(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--recordings", nargs="+", help="recorded files of one drafter; no model is needed")
    source.add_argument(
        "--prompts", help='a JSON object a line, {"text": ...} or {"turns": [...]}: the target answers, the head drafts'
    )
    source.add_argument("--texts", help=f"answers of any engine, a JSON object a line: {FORMAT}")
    parser.add_argument("--kinds", action="store_true", help="tau by kind of text beside each row (JSON only)")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    shape.add_argument("--csv", action="store_true", help="comma-separated rows instead of text")
    add_reading(parser)
    live = parser.add_argument_group("with --prompts or --texts")
    live.add_argument("--keep", help="folder for texts that are done: the same command goes on from there")
    live.add_argument("--limit", type=int, help="so many prompts, evenly spread over the file, or the first so many texts")
    live.add_argument("--max-new-tokens", type=int, default=128, help="length of each answer to a prompt (default 128)")
    add_model(live)
    parser.set_defaults(run=run_simulate, defaults={name: parser.get_default(name) for name in LIVE})


def run_simulate(args: argparse.Namespace) -> int:
    """Print all rows as JSON or CSV, or the setting of largest tau of each policy as text."""
    if args.kinds and not args.json:
        raise ValueError("kinds: given without --json, allowed only with it")
    if args.limit is not None and args.limit < 1:
        raise ValueError(f"limit: {args.limit} given, allowed is a whole number from 1")
    source, kinds = _recorded(args) if args.recordings else simulated_texts(args)
    found = outcomes(kinds)
    rows, contexts = [row_of(one) for one in found], whole(kinds).count
    if args.json:
        more = [{"by_kind": dict(one.by_kind)} if args.kinds else {} for one in found]
        rows = [row | kind for row, kind in zip(rows, more, strict=True)]
        print_json({"version": VERSION, "contexts": contexts, **source, "rows": rows})
    elif args.csv:
        writer = csv.DictWriter(sys.stdout, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    else:
        _print_largest(rows, contexts)
    return 0


def _recorded(args: argparse.Namespace) -> tuple[dict[str, str], dict[str, Tally]]:
    """Whose texts they are, and the tally of each kind."""
    for name, usual in args.defaults.items():
        if getattr(args, name) != usual:
            raise ValueError(f"{name}: {getattr(args, name)} given beside --recordings, allowed only with --prompts or --texts")
    recordings, reading = read_in([read(path) for path in args.recordings], args.reading)
    drafters = {(recording.target, recording.drafter) for recording in recordings}
    if len(drafters) > 1:
        raise ValueError(f"recordings: {len(drafters)} pairs of target and drafter given, allowed is one")
    contexts = [(recording.kind, cycle) for recording in recordings for cycle in recording.cycles]
    report = _progress()
    source = {"target": recordings[0].target, "drafter": recordings[0].drafter, "reading": reading}
    return source, tally(contexts, lambda done: report(done, len(contexts)))


def _progress() -> Callable[[int, int], None]:
    """Says every tenth context how many are done and the seconds left."""
    began = monotonic()

    def report(done: int, of: int) -> None:
        seconds = monotonic() - began
        if done == of:
            say(f"{done} contexts in {seconds:.1f} s")
        elif done % 10 == 0:
            say(f"{done} of {of} contexts, {seconds * (of - done) / done:.0f} s left")

    return report


def _print_largest(rows: list[dict], contexts: int) -> None:
    print(f"{contexts} contexts, {len(rows)} settings; the largest tau (tokens a verify pass) of each policy, 95 % interval")
    for policy in dict.fromkeys(row["policy"] for row in rows):
        best = max((row for row in rows if row["policy"] == policy), key=lambda row: row["tau"])
        told = ", ".join(f"{name} {best[name]}" for name in COLUMNS[1:6] if best[name] is not None)
        print(f"{policy:<16} tau {best['tau']:.2f} ({best['low']:.2f} to {best['high']:.2f}), {best['passes']:.1f} passes: {told}")


def run_recommend(args: argparse.Namespace) -> int:
    """Print the fastest setting at each batch with the engines' flags."""
    cost = _cost(args)
    try:
        document = json.loads(Path(args.simulation).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ValueError(f"simulation: {args.simulation} is not JSON, allowed is a file printed by simulate --json") from None
    known = outcomes_from(document)
    if "drafter" in document:
        say(f"simulated: {document['drafter']} for {document.get('target')}; the times must be of the same pair")
    found = [recommend(known, cost, batch) for batch in args.batch]
    largest = max(one.setting.budget for one in known)
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


def _cost(args: argparse.Namespace) -> PassCost:
    """The times that the options name; raises ``ValueError`` where they are none."""
    if args.accelerator is not None:
        found = roofline(ACCELERATORS[args.accelerator], **({} if args.billions is None else {"billions": args.billions}))
        say(f"{found.title}: {ACCELERATORS[args.accelerator].source}; 1 ms a pass beside it supposed")
        return found
    if args.billions is not None:
        raise ValueError(f"billions: {args.billions:g} given without --accelerator, allowed only with it")
    text = args.times if args.times_file is None else Path(args.times_file).read_text(encoding="utf-8")
    return read_times(text) if text.lstrip().startswith(("{", "[")) else parse_times("given times", text)


def _print_advice(one: Advice) -> None:
    print(one.sentence)
    for engine, text in one.flags.items():
        print(f"  {engine:<13} {text}")
