"""``tree`` and ``compare``: the lab without a browser."""

from __future__ import annotations

import argparse

from ..core.documents import VERSION, comparison_document, draft_document
from ..core.readout import Comparison, comparison_remarks, coverage_sentence, sweep_probability, wasted_nodes
from .parser import add_landscape, add_parameters, drafted, landscape_of, policies_of, policy_names, policy_of, print_json, say


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register both commands."""
    tree = commands.add_parser("tree", help="draw the tree that one policy drafts")
    tree.add_argument("--policy", default="eagle2", help=policy_names())
    compare = commands.add_parser("compare", help="the same budget spent by a static and a dynamic policy")
    compare.add_argument("--static", default="eagle1", help=f"default eagle1; {policy_names()}")
    compare.add_argument("--dynamic", default="eagle2", help="default eagle2; as --static")
    for parser, run in ((tree, run_tree), (compare, run_compare)):
        add_landscape(parser)
        parser.add_argument("--budget", type=int, default=25, help="drafted nodes, the root not counted (default 25)")
        add_parameters(parser)
        parser.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
        parser.set_defaults(run=run)


def run_tree(args: argparse.Namespace) -> int:
    """Print one tree: rank path, confidence and path product of each node."""
    draft = drafted(policy_of(args.policy, args), landscape_of(args), args.budget)
    if draft.policy.remark(draft):
        say(draft.policy.remark(draft))
    if args.json:
        print_json({"version": VERSION} | draft_document(draft))
        return 0
    print(draft.tree.text())
    print(f"expected accepted {draft.tree.expected_accepted:.3f} tokens a pass (bonus not counted), {draft.passes} draft passes")
    _print_coverage(args)
    return 0


def run_compare(args: argparse.Namespace) -> int:
    """Print what the same budget buys from two policies on one landscape."""
    landscape, policies = landscape_of(args), policies_of((args.static, args.dynamic), args)
    pair = Comparison(*(drafted(policy, landscape, args.budget) for policy in policies))
    for remark in comparison_remarks(pair.static, pair.dynamic):
        say(remark)
    if args.json:
        print_json(comparison_document(pair))
        return 0
    print(f"{'policy':<12}{'expected accepted':>18}{'depth':>7}{'passes':>8}{'P(whole branch)':>17}")
    for draft in (pair.static, pair.dynamic):
        tree, name = draft.tree, draft.policy.name
        row = f"{name:<12}{tree.expected_accepted:>18.3f}{tree.depth:>7}{draft.passes:>8}{sweep_probability(tree):>17.3f}"
        print(row)
    wasted = len(wasted_nodes(pair.static, pair.dynamic))
    static, dynamic = pair.static.policy.title, pair.dynamic.policy.title
    said = f"{wasted} of {pair.static.budget} nodes of {static} wasted: each is less likely than every node of {dynamic}"
    print(f"gain {pair.gain:+.1%}; {said}")
    _print_coverage(args)
    return 0


def _print_coverage(args: argparse.Namespace) -> None:
    """What a synthetic landscape assumes; a list of confidences says by itself what it leaves out."""
    if args.confidences is None:
        print(coverage_sentence(args.coverage))
