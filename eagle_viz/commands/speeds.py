"""``bench decode``, ``bench predict`` and ``bench passes``: the speeds that card and page quote, printed by anyone who asks."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from ..core.documents import VERSION
from .model import DTYPES, HEAD, target_folder
from .parser import print_json, say
from .prompts import add_prompts, read_prompts, source_name


def add_commands(benches: argparse._SubParsersAction) -> None:
    """Register ``decode``, ``predict`` and ``passes`` under ``bench``."""
    _add_decode(benches.add_parser("decode", help="plain decoding, prompt lookup, chain, EAGLE-1 and EAGLE-2 on the same prompts"))
    _add_predict(benches.add_parser("predict", help="tokens a second predicted from parts, against measured ones"))
    _add_passes(benches.add_parser("passes", help="time of a target pass over n positions and of a draft pass, on this machine"))


def _add_decode(parser: argparse.ArgumentParser) -> None:
    add_prompts(parser)
    _add_timed(parser)
    parser.set_defaults(run=run_decode)


def _add_predict(parser: argparse.ArgumentParser) -> None:
    add_prompts(parser)
    _add_timed(parser)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of decoding, settings in turn (default 3)")
    parser.set_defaults(run=run_predict)


def _add_timed(parser: argparse.ArgumentParser) -> None:
    """Target and head of what is timed in several dtypes."""
    parser.add_argument("--target", help="folder or hub id (default: the fetched target)")
    parser.add_argument("--head", default=str(HEAD), help="folder of an EAGLE head (default: the shipped one)")
    parser.add_argument("--dtypes", nargs="+", default=list(DTYPES), choices=DTYPES, help="default: both")


def _add_passes(parser: argparse.ArgumentParser) -> None:
    _add_timed(parser)
    parser.add_argument("--repeats", type=int, default=15, help="runs at each size; the median counts (default 15)")
    parser.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    parser.set_defaults(run=run_passes)


def run_decode(args: argparse.Namespace) -> int:
    """Print tokens a second, tau and losslessness of each way to decode."""
    import torch

    from ..engine.bench import bench_decode

    prompts, dtypes = read_prompts(args.prompts, args.limit), [getattr(torch, name) for name in args.dtypes]
    made = bench_decode(
        target_folder(args),
        args.head,
        prompts,
        args.max_new_tokens,
        dtypes=dtypes,
        report=lambda row: say(f"{row.name} {row.budget} {row.dtype}: {row.tokens_per_second:.1f} tokens/s"),
    )
    if args.json:
        print_json({"version": VERSION} | made.to_json())
        return 0
    _print_rows(made)
    return 0


def _print_rows(made) -> None:
    fastest = made.best_plain().tokens_per_second
    head = f"{'method':<15}{'budget':>7} {'dtype':<10}{'tokens/s':>9}{'speed-up':>10}{'tau':>7}"
    print(f"{head}{'expected':>10}{'rest':>7}{'identical':>11}")
    for row in made.rows():
        tau, expected, rest = ("-" if value is None else f"{value:.2f}" for value in (row.tau, row.expected_tau, row.rest))
        speed = f"{row.tokens_per_second:>9.1f}{row.tokens_per_second / fastest:>10.2f}"
        same = f"{row.identical}/{row.prompts}"
        print(f"{row.name:<15}{row.budget:>7} {row.dtype:<10}{speed}{tau:>7}{expected:>10}{rest:>7}{same:>11}")


def run_predict(args: argparse.Namespace) -> int:
    """Print predicted and measured tokens a second of every setting, the errors, and what was recommended."""
    import torch

    from ..engine.predict import bench_predict

    prompts = read_prompts(args.prompts, args.limit)
    made = bench_predict(
        target_folder(args),
        args.head,
        prompts,
        args.max_new_tokens,
        [getattr(torch, name) for name in args.dtypes],
        args.rounds,
        report=say,
    )
    if args.json:
        run = {"prompts": source_name(args.prompts), "count": len(prompts), "max_new_tokens": args.max_new_tokens}
        run |= {"rounds": args.rounds, "cores": torch.get_num_threads()}
        print_json({"version": VERSION, "run": run} | made.to_json())
        return 0
    print(f"{'setting':<24}{'dtype':<10}{'predicted':>10}{'measured':>10}{'error':>8}{'tau':>7}{'measured':>10}")
    for row in made.rows:
        speeds = f"{row.predicted:>10.1f}{row.measured:>10.1f}{row.error:>8.1%}"
        print(f"{row.setting:<24}{row.dtype:<10}{speeds}{row.predicted_tau:>7.2f}{row.measured_tau:>10.2f}")
    print(f"median error {made.median_error:.1%}, worst {made.worst_error:.1%}")
    best = made.recommended
    print(f"recommended: {best.setting}, {best.dtype}, measured {made.share_of_best:.1%} of the fastest measured setting")
    return 0


def run_passes(args: argparse.Namespace) -> int:
    """Print the times as Budget & speed on the page takes them, ``positions:milliseconds``."""
    import torch

    from ..engine.head import Head
    from ..engine.passes import time_passes
    from ..engine.target import Target

    if args.repeats < 1:
        raise ValueError(f"repeats: {args.repeats} given, allowed is 1 or more")
    found = []
    for name in args.dtypes:
        target = Target.load(target_folder(args), getattr(torch, name))
        found.append(time_passes(target, Head.load(args.head, target), repeats=args.repeats))
    if args.json:
        print_json({"version": VERSION, "passes": [asdict(cost) for cost in found]})
        return 0
    for cost in found:
        print(f"{cost.title}:\n    {cost.text}")
    return 0
