"""``bench``: numbers that the README and the page quote, printed by anyone who asks."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from ..core.documents import VERSION
from ..core.policies.base import DEFAULT_LEVELS, MAX_DEPTH, check_whole
from ..core.population import population
from .parser import Parser, parse_numbers, print_json


def add_commands(commands: argparse._SubParsersAction) -> argparse._SubParsersAction:
    """Register ``bench`` and its own sub-commands; returns their registry."""
    benches = commands.add_parser("bench", help="measure: synthetic landscapes, decoding").add_subparsers(
        dest="bench", metavar="WHAT", required=True, parser_class=Parser
    )
    landscapes = benches.add_parser("landscapes", help="mean gains over many synthetic landscapes")
    landscapes.add_argument("--sharpness", default="0.8,1.5,2.5,4", help="numbers separated by commas")
    landscapes.add_argument("--budget", type=int, default=25, help="drafted nodes, the root not counted (default 25)")
    landscapes.add_argument("--branching", type=int, default=4, help="candidates per node (default 4)")
    levels = f"levels of EAGLE-2 (default {DEFAULT_LEVELS})"
    landscapes.add_argument("--max-depth", type=int, default=DEFAULT_LEVELS, help=levels)
    landscapes.add_argument("--seeds", type=int, default=200, help="how many seeds, from 0 (default 200)")
    landscapes.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    landscapes.set_defaults(run=run_landscapes)
    tree = benches.add_parser("tree", help="microseconds of drafting one tree, against the same logic written with torch.topk")
    tree.add_argument("--repeats", type=int, default=200, help="how often each is timed (default 200)")
    tree.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    tree.set_defaults(run=run_tree)
    return benches


def run_landscapes(args: argparse.Namespace) -> int:
    """Print, for each sharpness, what EAGLE-2 (top_k 10) expects against both static shapes."""
    if not 1 <= args.seeds <= 100_000:
        raise ValueError(f"seeds: {args.seeds} given, allowed is a whole number from 1 to 100000")
    sharpness = parse_numbers("sharpness", args.sharpness)
    options = {"max_depth": check_whole("max_depth", args.max_depth, 1, MAX_DEPTH), "seeds": range(args.seeds)}
    rows = [population(value, args.budget, args.branching, **options) for value in sharpness]
    if args.json:
        print_json({"version": VERSION, "budget": args.budget, "seeds": args.seeds, "rows": [asdict(row) for row in rows]})
        return 0
    print(
        f"{args.seeds} landscapes, budget {args.budget}, {args.branching} candidates a node; expected accepted, bonus not counted"
    )
    print(f"{'sharpness':>9}{'eagle1':>9}{'best_static':>13}{'eagle2':>9}{'over eagle1':>13}{'over best_static':>18}")
    for row in rows:
        means = f"{row.sharpness:>9.1f}{row.eagle1:>9.2f}{row.best_static:>13.2f}{row.eagle2:>9.2f}"
        print(f"{means}{row.gain_over_eagle1:>13.1%}{row.gain_over_static:>18.1%}")
    return 0


def run_tree(args: argparse.Namespace) -> int:
    """Print median microseconds of one EAGLE-2 tree (top_k 10, 6 levels) with its buffers: ours, the reference, early stop."""
    from ..engine.bench_tree import bench_tree

    rows = bench_tree(repeats=args.repeats)
    if args.json:
        print_json({"version": VERSION, "rows": [asdict(row) for row in rows]})
        return 0
    print(f"{'budget':>6}{'vocabulary':>12}{'ours us':>10}{'reference us':>14}{'ratio':>8}{'early stop us':>15}{'passes':>10}")
    for row in rows:
        times = f"{row.ours_us:>10.0f}{row.reference_us:>14.0f}{row.ratio:>8.1f}{row.early_us:>15.0f}"
        print(f"{row.budget:>6}{row.vocabulary:>12}{times}{f'{row.early_passes} of {row.passes}':>10}")
    return 0
