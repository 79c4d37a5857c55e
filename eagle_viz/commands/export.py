"""``export``: the two trees as one HTML file that plays offline, made from the same stage as the page."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..core.readout import comparison_remarks
from .parser import add_landscape, add_parameters, drafted, landscape_of, policies_of, say


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register ``export``."""
    parser = commands.add_parser("export", help="write the two trees as one HTML file that plays offline")
    parser.add_argument("--to", help="file to write (default: standard output)")
    parser.add_argument("--static", default="eagle1", help="a policy (default eagle1)")
    parser.add_argument("--dynamic", default="eagle2", help="a policy (default eagle2)")
    parser.add_argument("--budget", type=int, default=25, help="drafted nodes, the root not counted (default 25)")
    parser.add_argument("--title", default="", help="heading of the page")
    add_landscape(parser)
    add_parameters(parser)
    parser.set_defaults(run=run_export)


def run_export(args: argparse.Namespace) -> int:
    """Write the player; the stage serves every budget up to the next tier."""
    from ..stage.player import player_html
    from ..stage.trace import build_trace, tier_of

    static, dynamic = policies_of((args.static, args.dynamic), args)
    landscape = landscape_of(args)
    for remark in comparison_remarks(*(drafted(policy, landscape, args.budget) for policy in (static, dynamic))):
        say(remark)
    trace = build_trace(landscape, static, dynamic, tier=tier_of(args.budget), budget=args.budget, label=args.title)
    html = player_html(trace, budget=args.budget, title=args.title)
    if args.to is None:
        print(html)
        return 0
    Path(args.to).write_text(html, encoding="utf-8")
    say(f"{args.to}: {len(html) / 1000:.0f} kB")
    return 0
