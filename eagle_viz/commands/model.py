"""``fetch``, ``generate`` and ``record``: the real model. torch is imported when a command runs, not before."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ..core.documents import VERSION
from ..core.places import models
from .parser import add_parameters, policy_names, policy_of, print_json, say

if TYPE_CHECKING:
    from ..engine.drafted import Drafter
    from ..engine.generation import Generation
    from ..engine.plain import LosslessCheck
    from ..engine.sampling import Settings
    from ..engine.target import Target

HEAD = models() / "smollm2-135m-eagle"
DTYPES = ("float32", "bfloat16")
DRAFTERS = ("head", "oracle")
CANDIDATES = 10
"""Candidates that a drafter gives each node, if the policy does not ask for more."""


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register the three commands."""
    fetch = commands.add_parser("fetch", help="get the default target's weights (93 MB), check and convert them")
    fetch.add_argument("--to", help="folder for the converted target (default: under EAGLE_VIZ_HOME or ~/.cache)")
    fetch.add_argument("--gguf", action="store_true", help="print where the same weights lie as one GGUF file, for llama.cpp")
    fetch.set_defaults(run=run_fetch)
    _add_generate(commands.add_parser("generate", help="answer a prompt, cycle by cycle, with a drafted tree a pass"))
    _add_record(commands.add_parser("record", help="write recordings that the page opens without the model"))


def add_model(parser: argparse.ArgumentParser) -> None:
    """The options that choose target and drafter."""
    parser.add_argument("--target", help="folder or hub id of a Hugging Face causal LM (default: the fetched target)")
    parser.add_argument("--head", default=str(HEAD), help="folder of an EAGLE head (default: the shipped one)")
    parser.add_argument("--drafter", default="head", choices=DRAFTERS, help="oracle: the target drafts for itself")
    parser.add_argument("--dtype", default="float32", choices=DTYPES, help="of the target and the head (default float32)")


def _add_generate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--prompt", required=True, help="one user turn, put into the target's chat template")
    parser.add_argument("--policy", default="eagle2", help=policy_names())
    parser.add_argument("--budget", type=int, default=25, help="drafted nodes a pass, the root not counted (default 25)")
    add_parameters(parser)
    parser.add_argument("--max-new-tokens", type=int, default=96, help="length of the answer (default 96)")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 is greedy (default)")
    parser.add_argument("--top-p", type=float, default=1.0, help="nucleus, when sampling (default 1)")
    parser.add_argument("--seed", type=int, default=0, help="of the sampling")
    parser.add_argument("--check", action="store_true", help="decode plainly too and compare, token for token (greedy only)")
    parser.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    add_model(parser)
    parser.set_defaults(run=run_generate)


def _add_record(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", required=True, help="folder for the recordings")
    parser.add_argument("--prompts", nargs="*", help="names of the shipped prompts (default: all)")
    parser.add_argument("--max-new-tokens", type=int, default=64, help="length of each answer (default 64)")
    parser.add_argument("--contexts", type=int, help="at most so many cycles of each answer, evenly spaced (default: all)")
    add_model(parser)
    parser.set_defaults(run=run_record)


def run_fetch(args: argparse.Namespace) -> int:
    """Fetch the default target; print the folder it lies in, or its GGUF file."""
    from ..engine.fetch import fetch_gguf, fetch_target

    print((fetch_gguf if args.gguf else fetch_target)(args.to, _stage_reporter()))
    return 0


def _stage_reporter():
    """A progress callback that says each stage once and each tenth of the way."""
    said: set[tuple[str, int]] = set()

    def report(stage: str, fraction: float) -> None:
        mark = (stage, int(fraction * 10))
        if mark not in said:
            said.add(mark)
            say(f"{fraction:4.0%} {stage}")

    return report


def target_folder(args: argparse.Namespace) -> str | Path:
    """Where the target lies that the options name; raises ``ValueError`` saying how to get the default one."""
    from ..engine.fetch import default_target_path, is_fetched

    if args.target is None and not is_fetched():
        raise ValueError("target: the default one is not here yet; run `python -m eagle_viz fetch`, or name a folder with --target")
    return args.target or default_target_path()


def load_target(args: argparse.Namespace) -> Target:
    """The target that the options name; raises what ``target_folder`` raises."""
    import torch

    from ..engine.target import Target

    return Target.load(target_folder(args), getattr(torch, args.dtype))


def load_drafter(args: argparse.Namespace, target: Target, candidates: int = CANDIDATES) -> Drafter:
    """The drafter that the options name, giving so many ``candidates`` for each node."""
    from ..engine.drafted import HeadDrafter, OracleDrafter
    from ..engine.head import Head

    if args.drafter == "oracle":
        return OracleDrafter(target, candidates)
    return HeadDrafter(Head.load(args.head, target), candidates, name=Path(args.head).name)


def run_generate(args: argparse.Namespace) -> int:
    """Answer one prompt; 1 where ``--check`` finds a difference that is no near-tie."""
    from ..engine.plain import check_lossless
    from ..engine.sampling import Settings

    settings = Settings(args.max_new_tokens, args.temperature, args.top_p, args.seed, probabilities=False)
    if args.check and args.temperature:
        raise ValueError(f"check: temperature {args.temperature} given, allowed is 0: a sampled answer has no one right text")
    policy = policy_of(args.policy, args)
    if policy.needs_average:
        raise ValueError(f"policy: {args.policy!r} given, allowed is one that needs no average context, which a live run lacks")
    target = load_target(args)
    drafter = load_drafter(args, target, max(CANDIDATES, args.top_k or 0))
    run, cycles, seconds = _generate(target, drafter, args, policy, settings)
    most = max((cycle.drafts[args.policy].budget for cycle in cycles), default=args.budget)
    if most < args.budget:
        say(f"budget: {args.budget} given, {most} drafted a pass at most: {policy.title} finds no more nodes at these settings")
    check = check_lossless(target, run.prompt, run.tokens) if args.check else None
    if args.json:
        print_json(_generation_document(run, cycles, seconds, check))
    else:
        _print_generation(run, seconds, check)
    return 0 if check is None or check.identical or check.near_tie else 1


def _generate(target: Target, drafter: Drafter, args: argparse.Namespace, policy, settings: Settings):
    from ..engine.generation import generate

    run, cycles, began = generate(target, drafter, args.prompt, {args.policy: (policy, args.budget)}, settings), [], perf_counter()
    for cycle in run:
        cycles.append(cycle)
        say(f"pass {len(cycles)}: {len(cycle.tokens)} tokens, {target.decode(list(cycle.tokens))!r}")
    return run, cycles, perf_counter() - began


def _generation_document(run: Generation, cycles: list, seconds: float, check: LosslessCheck | None) -> dict:
    """The stable document: tau counts tokens written, the bonus among them, not the prompt's own pass; seconds include it."""
    return {
        "version": VERSION,
        "text": run.text,
        "tokens": run.tokens,
        "tau": run.tau() if cycles else None,
        "acceptance": run.acceptance(),
        "cycles": [cycle.to_json() for cycle in cycles],
        "seconds": seconds,
        "check": None if check is None else check.to_json(),
    }


def _print_generation(run: Generation, seconds: float, check: LosslessCheck | None) -> None:
    print(run.text)
    speed = f"{len(run.tokens)} tokens in {seconds:.1f} s ({len(run.tokens) / seconds:.1f} tokens/s)"
    say(f"{speed}; {run.passes} verify passes, tau {run.tau():.2f} measured, {run.expected_tau():.2f} expected")
    found = run.acceptance()
    rates = " ".join(f"{rate:.2f}" for rate in found["by_position"])
    say(f"{found['accepted']} of {found['drafted']} drafted tokens accepted; by position, given the one before: {rates or '-'}")
    if check is not None:
        apart = f"parts at token {check.first_difference}" + ("" if check.gap is None else f", logit gap {check.gap:.2g}")
        say(f"plain greedy decoding: {'identical' if check.identical else apart}")


def run_record(args: argparse.Namespace) -> int:
    """Record the shipped prompts; print the files written."""
    from ..core.recording import write
    from ..engine.prompts import PROMPTS
    from ..engine.recorder import record, standard_contest

    known = {prompt.name: prompt for prompt in PROMPTS}
    unknown = [name for name in args.prompts or () if name not in known]
    if unknown:
        raise ValueError(f"prompts: {unknown[0]!r} given, allowed are {', '.join(known)}")
    target = load_target(args)
    chosen = [known[name] for name in args.prompts or known]
    made = record(
        target,
        load_drafter(args, target),
        chosen,
        standard_contest(),
        args.max_new_tokens,
        args.contexts,
        report=lambda now: say(f"{now.prompt}: {now.step} {now.done}/{now.total}"),
    )
    for recording in made:
        print(write(recording, Path(args.to) / f"{recording.name}.npz"))
    return 0
