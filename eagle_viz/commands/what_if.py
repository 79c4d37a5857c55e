"""``forest``, ``distort`` and ``mixed``: one budget over several requests, a drafter that lies, contexts that differ."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from ..core.distortion import Distortion, lie
from ..core.documents import VERSION
from ..core.forest import MOST_REQUESTS, batches, mean_tau, share
from ..core.landscape import Landscape, SyntheticLandscape
from ..core.mixed import curve
from ..core.policies.base import DEFAULT_LEVELS, MAX_BUDGET, check_whole
from ..core.recording import read, read_in
from .parser import add_parameters, parse_numbers, policy_names, policy_of, print_json

SPREADS = "0,0.5,1,1.5,2"


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register the three commands."""
    forest = _command(
        commands, "forest", "one verify budget over several requests, shared equally or by one order of products", run_forest
    )
    _add_contexts(forest)
    forest.add_argument("--requests", type=int, default=8, help="verified together (default 8)")
    forest.add_argument("--budget", type=int, default=8, help="drafted nodes a request on average (default 8)")
    forest.add_argument("--max-depth", type=int, default=DEFAULT_LEVELS, help=f"levels below each root (default {DEFAULT_LEVELS})")
    distort = _command(commands, "distort", "what a tree loses whose drafter's confidences are bent", run_distort)
    _add_contexts(distort)
    distort.add_argument("--policy", default="eagle2", help=policy_names())
    distort.add_argument("--budget", type=int, default=25, help="drafted nodes, the root not counted (default 25)")
    distort.add_argument(
        "--temperature", default="1", help="by depth, separated by commas: below 1 overconfident, above underconfident"
    )
    distort.add_argument("--noise", type=float, default=0.0, help="confidences times exp(noise * z), z normal")
    distort.add_argument("--shuffled", type=float, default=0.0, help="share of nodes whose confidences change hands")
    distort.add_argument(
        "--power", type=float, default=1.0, help="every product to this power: changes the promise, never the tree"
    )
    distort.add_argument("--draw", type=int, default=0, help="seed of noise and shuffles (default 0)")
    add_parameters(distort)
    mixed = _command(commands, "mixed", "gain of dynamic trees against how much contexts differ in sharpness", run_mixed)
    mixed.add_argument("--mean", type=float, default=2.0, help="mean sharpness of the contexts (default 2)")
    mixed.add_argument("--spread", default=SPREADS, help=f"spreads of the sharpness, separated by commas (default {SPREADS})")
    mixed.add_argument("--budget", type=int, default=25, help="drafted nodes, the root not counted (default 25)")
    mixed.add_argument("--branching", type=int, default=4, help="candidates per node (default 4)")


def _command(commands: argparse._SubParsersAction, name: str, told: str, run: Callable) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=told)
    parser.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    parser.set_defaults(run=run)
    return parser


def _add_contexts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--recordings", nargs="+", help="recorded contexts of one drafter; else synthetic ones")
    parser.add_argument("--seeds", type=int, default=64, help="synthetic contexts, from seed 0 (default 64)")
    parser.add_argument("--sharpness", default="2.5", help="of the synthetic contexts in turn, separated by commas (default 2.5)")


def _contexts(args: argparse.Namespace) -> list[Landscape]:
    if args.recordings:
        return [cycle.landscape for recording in read_in([read(path) for path in args.recordings])[0] for cycle in recording.cycles]
    check_whole("seeds", args.seeds, 1, 100_000)
    sharpness = parse_numbers("sharpness", args.sharpness)
    return [SyntheticLandscape(seed, sharpness[seed % len(sharpness)]) for seed in range(args.seeds)]


def run_forest(args: argparse.Namespace) -> int:
    """Print sizes and gain over batches of requests; requests of a batch lie evenly spread over the contexts."""
    check_whole("requests", args.requests, 1, MOST_REQUESTS)
    check_whole("budget", args.budget, 1, MAX_BUDGET // args.requests)
    found = [share(batch, args.budget, args.max_depth) for batch in batches(_contexts(args), args.requests)]
    sizes = [size for one in found for size in one.sizes]
    equal, shared = mean_tau(found)
    if args.json:
        rows = [{"sizes": list(one.sizes), "equal": one.equal, "shared": one.expected, "gain": one.gain} for one in found]
        print_json(
            {"version": VERSION, "requests": args.requests, "budget": args.budget, "gain": shared / equal - 1, "batches": rows}
        )
        return 0
    print(f"{len(found)} batches of {args.requests} requests, {args.budget} nodes a request on average")
    print(f"tau expected: {equal:.3f} with equal parts, {shared:.3f} by one order of products: {shared / equal - 1:+.1%}")
    print(f"nodes of a request: {min(sizes)} to {max(sizes)}")
    return 0


def run_distort(args: argparse.Namespace) -> int:
    """Print what the lying drafter promises, what its trees are worth, and what the honest drafter's are."""
    distortion = Distortion(tuple(parse_numbers("temperature", args.temperature)), args.noise, args.shuffled, args.power, args.draw)
    found = lie(_contexts(args), policy_of(args.policy, args), args.budget, distortion)
    if args.json:
        print_json({"version": VERSION} | vars(found) | {"lost": found.lost})
        return 0
    print(
        f"expected accepted, bonus not counted: promised {found.promised:.3f}, worth {found.worth:.3f}, honest {found.honest:.3f}"
    )
    print(f"lost: {found.lost:.1%} of the tokens a pass")
    return 0


def run_mixed(args: argparse.Namespace) -> int:
    """Print the gain of each context's own tree over the best fixed shape, by spread."""
    rows = curve(args.mean, _sorted(parse_numbers("spread", args.spread)), args.budget, args.branching)
    if args.json:
        print_json({"version": VERSION, "rows": [vars(one) | {"gain": one.gain} for one in rows]})
        return 0
    print(f"{'spread':>7}{'fixed':>8}{'dynamic':>9}{'gain':>8}   (tau expected, bonus counted)")
    for one in rows:
        print(f"{one.spread:>7g}{1 + one.static:>8.3f}{1 + one.dynamic:>9.3f}{one.gain:>8.1%}")
    return 0


def _sorted(numbers: Sequence[float]) -> list[float]:
    return sorted(set(numbers))
