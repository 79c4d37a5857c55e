"""``calibrate``, ``bench decode`` and ``bench passes``: what card and page quote, printed by anyone who asks."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.documents import VERSION
from ..core.policies import Policy
from .model import DTYPES, HEAD, add_model, add_reading, load_drafter, load_target, target_folder
from .parser import OWN_SHAPE, named_policy, print_json, say
from .prompts import read_prompts

if TYPE_CHECKING:
    from ..engine.drafted import Drafter
    from ..engine.generation import Generation
    from ..engine.target import Target

READ = 8
"""Answers along which a head's attention is read."""


def add_commands(commands: argparse._SubParsersAction, benches: argparse._SubParsersAction) -> None:
    """Register ``calibrate``, and ``decode`` and ``passes`` under ``bench``."""
    _add_calibrate(commands.add_parser("calibrate", help="confidence against acceptance, recorded or live"))
    _add_decode(benches.add_parser("decode", help="plain decoding, prompt lookup, chain, EAGLE-1 and EAGLE-2 on the same prompts"))
    _add_predict(benches.add_parser("predict", help="tokens a second predicted from parts, against measured ones"))
    _add_passes(benches.add_parser("passes", help="time of a target pass over n positions and of a draft pass, on this machine"))


def _add_prompts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--prompts", help='a JSON object a line, {"text": ...} or {"turns": [...]} (default: the shipped prompts)')
    parser.add_argument("--limit", type=int, help="so many of them, evenly spread over the file")
    parser.add_argument("--max-new-tokens", type=int, default=128, help="length of each answer (default 128)")
    parser.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--recordings", nargs="+", help="recorded files of one drafter instead of live runs: no model needed")
    parser.add_argument("--budget", type=int, default=59, help="drafted nodes a pass, the root not counted (default 59)")
    parser.add_argument("--policies", nargs="+", default=[], help="on the same contexts too: chain:6 eagle1:25 ..., " + OWN_SHAPE)
    _add_prompts(parser)
    add_reading(parser)
    add_model(parser)
    parser.set_defaults(run=run_calibrate)


def _add_decode(parser: argparse.ArgumentParser) -> None:
    _add_prompts(parser)
    _add_timed(parser)
    parser.set_defaults(run=run_decode)


def _add_predict(parser: argparse.ArgumentParser) -> None:
    _add_prompts(parser)
    _add_timed(parser)
    parser.add_argument("--repeats", type=int, default=9, help="rounds of timing the parts; the median counts (default 9)")
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


def run_calibrate(args: argparse.Namespace) -> int:
    """Print reliability, acceptance by depth and rank, and (from recordings) the ladder and the paper's ablation."""
    if args.budget < 1:
        raise ValueError(f"budget: {args.budget} given, allowed is 1 or more")
    report, attention = (_recorded_report(args), None) if args.recordings else _live_report(args)
    if args.json:
        readings = None if attention is None else [asdict(one) for one in attention]
        print_json({"version": VERSION, "run": _run_of(args), "attention": readings} | report.to_json())
        return 0
    _print_report(report)
    if attention:
        from ..training.readings import readings_sentence

        print(f"by drafting step: {readings_sentence(attention)}")
    return 0


def _run_of(args: argparse.Namespace) -> dict | None:
    """What a live run answered, and how; None of recordings."""
    if args.recordings:
        return None
    count = len(read_prompts(args.prompts, args.limit))
    source = Path(args.prompts).stem if args.prompts else "shipped prompts"
    return {"prompts": source, "count": count, "max_new_tokens": args.max_new_tokens, "dtype": args.dtype}


def _print_report(report) -> None:
    print(f"{report.drafter}, {report.policy}, budget {report.budget}, {report.contexts} contexts")
    print(f"drafted by the {report.reading} reading; tau {report.tau:.2f}, accepted + 1 {1 + report.accepted:.3f} measured")
    promises = {"sampling": report.sampled} | {report.reading: report.expected}
    print("expected: " + ", ".join(f"{1 + value:.3f} ({name})" for name, value in promises.items()))
    print(f"ECE {report.reliability.ece:.4f} against the target's probabilities (sampling)")
    if report.greedy:
        print(f"ECE {report.greedy.ece_accepted:.4f} against what was accepted (greedy)")
    for title, groups in (("depth", report.by_depth), ("rank", report.by_rank)):
        print(f"{title:>8}{'nodes':>8}{'confidence':>12}{'target':>9}{'accepted':>10}")
        for group in groups:
            print(f"{group.key:>8}{group.count:>8}{group.confidence:>12.3f}{group.target:>9.3f}{group.accepted:>10.3f}")
    for title, rungs in (("ladder", report.ladder), ("ablation", report.ablation)):
        if rungs:
            print(f"{title:<26}{'expected':>10}{'target':>9}{'accepted':>10}{'passes':>8}")
        for rung in rungs:
            print(f"{rung.name:<26}{rung.expected:>10.2f}{rung.target:>9.2f}{rung.accepted:>10.2f}{rung.passes:>8.1f}")
    _print_standings(report.standings)


def _print_standings(standings) -> None:
    """Each policy on the same contexts, the bonus counted: tau, and promise against outcome, whole and by kind of prompt."""
    if not standings:
        return
    print(f"{'':<24}" + "".join(f"{one.name:>15}" for one in standings))
    _print_means("", [one.whole for one in standings])
    for other in standings:
        leads = ((one.over[other.name], one.name) for one in standings if one is not other and one.whole.tau > other.whole.tau)
        for lead, name in leads:
            share = tuple(100 * part / other.whole.tau for part in (lead.mean, lead.low, lead.high))
            print(f"{name} over {other.name}: {share[0]:+.1f} % tokens a pass ({share[1]:+.1f} to {share[2]:+.1f})")
    for kind in standings[0].by_kind:
        _print_means(f"{kind}: ", [one.by_kind[kind] for one in standings])


def _print_means(of: str, means) -> None:
    """tau, then accepted + 1 as it was measured and as each reading promised it."""
    columns = {"tau": "tau", "accepted + 1": "accepted", "expected": "expected", "for sampling": "sampled"}
    for title, field in columns.items():
        cells = (getattr(one, field) + (field != "tau") for one in means)
        print(f"{of + title:<24}" + "".join(f"{cell:>15.2f}" for cell in cells))


def _recorded_report(args: argparse.Namespace):
    for name in ("prompts", "limit"):
        if getattr(args, name):
            raise ValueError(f"{name}: given beside --recordings, allowed only for live runs")
    from ..core.calibration import calibrate_recorded
    from ..core.ladder import ladder_policies
    from ..core.recording import read

    others = {name: policy for name, (policy, _) in contest_of(args.policies, args.budget, alike=True).items()}
    report = calibrate_recorded([read(path) for path in args.recordings], args.budget, others=others, reading=args.reading)
    missing = {*ladder_policies(1), *others} - {rung.name for rung in report.ladder}
    for name in sorted(missing):
        say(f"{name} is left out of the ladder: these recordings hold too few candidates or no average of other prompts for it")
    return report


def _live_report(args: argparse.Namespace):
    from ..engine.calibration import calibrate_live

    prompts, others = read_prompts(args.prompts, args.limit), contest_of(args.policies, args.budget)
    target = load_target(args)
    drafter, runs = load_drafter(args, target), []
    tell = lambda name, cycles: say(f"{name}: {cycles} passes so far")  # noqa: E731
    report = calibrate_live(
        target,
        drafter,
        prompts,
        budget=args.budget,
        max_new_tokens=args.max_new_tokens,
        others=others,
        reading=args.reading,
        report=tell,
        finished=runs.append,
    )
    return report, _attention(target, drafter, runs[:READ])


def _attention(target: Target, drafter: Drafter, runs: Sequence[Generation]):
    """What the head's attention looks at along the first answers; None for the target itself, and (said) where it is not read."""
    from ..engine.drafted import HeadDrafter
    from ..training.readings import head_readings
    from ..training.sampler import Answer

    if not isinstance(drafter, HeadDrafter):
        return None
    try:
        return head_readings(target, drafter.head, [Answer(tuple(run.prompt), tuple(run.tokens), 0.0) for run in runs])
    except ValueError as error:
        say(str(error))
        return None


def contest_of(entries: Sequence[str], budget: int, alike: bool = False) -> dict[str, tuple[Policy, int]]:
    """Policies by ``name`` or ``name:budget``, ``alike``: all with one budget; raises ``ValueError`` naming the entry.

    >>> contest_of(["chain:6"], 59)
    {'chain:6': (Chain(), 6)}
    """
    contest = {}
    for entry in entries:
        name, colon, number = entry.partition(":")
        if colon and not (number.isascii() and number.isdigit() and int(number) > 0):
            raise ValueError(f"policies: {entry!r} given, allowed is a policy, or a policy and its budget as in eagle1:25")
        policy, nodes = named_policy(name), int(number or budget)
        if alike and nodes != budget:
            raise ValueError(f"policies: {entry!r} given, beside --recordings all have one budget, --budget {budget}")
        if policy.needs_average:
            raise ValueError(
                f"policies: {entry!r} given, but the best static shape needs an average context, which a live run lacks"
            )
        contest[f"{name}:{nodes}"] = policy, nodes
    return contest


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
    from .prompts import read_prompts

    made = bench_predict(
        target_folder(args),
        args.head,
        read_prompts(args.prompts, args.limit),
        args.max_new_tokens,
        [getattr(torch, name) for name in args.dtypes],
        args.repeats,
        args.rounds,
        report=say,
    )
    if args.json:
        print_json({"version": VERSION} | made.to_json())
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
