"""``calibrate``: confidence against acceptance, of recordings or live, printed by anyone who asks."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..core.documents import VERSION
from ..core.policies import Policy
from .model import add_model, add_reading, load_drafter, load_target
from .parser import OWN_SHAPE, named_policy, print_json, say
from .prompts import add_prompts, read_prompts, source_name

if TYPE_CHECKING:
    from ..engine.drafted import Drafter
    from ..engine.generation import Generation
    from ..engine.target import Target

READ = 8
"""Answers along which a head's attention is read."""


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register ``calibrate``."""
    _add_calibrate(commands.add_parser("calibrate", help="confidence against acceptance, recorded or live"))


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--recordings", nargs="+", help="recorded files of one drafter instead of live runs: no model needed")
    parser.add_argument("--budget", type=int, default=59, help="drafted nodes a pass, the root not counted (default 59)")
    parser.add_argument("--policies", nargs="+", default=[], help="on the same contexts too: chain:6 eagle1:25 ..., " + OWN_SHAPE)
    add_prompts(parser)
    add_reading(parser)
    add_model(parser)
    parser.set_defaults(run=run_calibrate)


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
    return {"prompts": source_name(args.prompts), "count": count, "max_new_tokens": args.max_new_tokens, "dtype": args.dtype}


def _print_report(report) -> None:
    print(f"{report.drafter}, {report.policy}, budget {report.budget}, {report.contexts} contexts")
    print(f"drafted by the {report.reading} reading; tau {report.tau:.2f}, accepted + 1 {1 + report.accepted:.3f} measured")
    promises = {"sampling": report.sampled} | {report.reading: report.expected}
    print("expected: " + ", ".join(f"{1 + value:.3f} ({name})" for name, value in promises.items()))
    print(f"confidence of the first candidate {report.top:.3f} on average")
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
            raise ValueError(f"policies: {entry!r} given, but {policy.title} needs an average context, which a live run lacks")
        contest[f"{name}:{nodes}"] = policy, nodes
    return contest
