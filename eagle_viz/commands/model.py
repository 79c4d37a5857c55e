"""``fetch`` and ``record``, and what commands with the real model share. torch is imported when a command runs, not before."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.places import models
from .parser import say
from .served import add_served, check_served, record_from_servers

if TYPE_CHECKING:
    from ..core.recording import Recording
    from ..engine.drafted import Drafter
    from ..engine.prompts import Prompt
    from ..engine.target import Target

HEAD = models() / "smollm2-135m-eagle3"
_NAME = re.compile(r"[\w-]{1,48}")
DTYPES = ("float32", "bfloat16")
DRAFTERS = ("head", "oracle")
CANDIDATES = 10
"""Candidates that a drafter gives each node, if the policy does not ask for more."""


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register both commands."""
    fetch = commands.add_parser("fetch", help="get the default target's weights (93 MB), check and convert them")
    fetch.add_argument("--to", help="folder for the converted target (default: under EAGLE_VIZ_HOME or ~/.cache)")
    fetch.add_argument("--gguf", action="store_true", help="print where the same weights lie as one GGUF file, for llama.cpp")
    fetch.set_defaults(run=run_fetch)
    _add_record(commands.add_parser("record", help="write recordings that the page opens without the model"))


def add_model(parser: argparse.ArgumentParser) -> None:
    """The options that choose target and drafter."""
    parser.add_argument("--target", help="folder or hub id of a Hugging Face causal LM (default: the fetched target)")
    parser.add_argument("--head", default=str(HEAD), help="folder of an EAGLE head (default: the shipped one)")
    parser.add_argument("--drafter", default="head", choices=DRAFTERS, help="oracle: the target drafts for itself")
    parser.add_argument("--dtype", default="float32", choices=DTYPES, help="of the target and the head (default float32)")
    where = "auto: layers of --target on the devices that accelerate finds (default); cpu: on this processor, as the default target"
    parser.add_argument("--device", default="auto", choices=("auto", "cpu"), help=where)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """The option that says how the drafter's confidences are read."""
    parser.add_argument(
        "--reading",
        choices=("sampling", "greedy"),
        help="confidences as they are, or as chances to be the target's first choice (default: what fits the decoding)",
    )


def add_chat(parser: argparse.ArgumentParser) -> None:
    """The options that say how a prompt is put to the target."""
    parser.add_argument("--system", default="", help="system prompt of the chat (default: what the chat template says)")
    parser.add_argument("--raw", action="store_true", help="no chat template: the model goes on with the text as it stands")


def _add_record(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", required=True, help="folder for the recordings")
    parser.add_argument("--prompts", nargs="*", help="names of the shipped prompts (default: all)")
    parser.add_argument("--prompt", help="a prompt of your own instead")
    parser.add_argument("--name", default="own", help="of the recording of --prompt (default own)")
    add_chat(parser)
    parser.add_argument("--max-new-tokens", type=int, default=64, help="length of each answer (default 64)")
    parser.add_argument("--contexts", type=int, help="at most so many passes of each answer, evenly spaced (default: all)")
    add_model(parser)
    add_served(parser)
    parser.set_defaults(run=run_record, parser=parser)


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
    """The target that the options name, after saying what memory it needs.

    Raises what ``target_folder`` raises, and ``ValueError`` where it does not fit the free memory.
    """
    import torch

    from ..engine.memory import devices, free_memory, need_of
    from ..engine.target import Target

    folder, free = target_folder(args), free_memory()
    placed = args.target is not None and args.device == "auto" and bool(devices(free))
    need = need_of(folder, args.dtype, placed)
    if need is not None:
        room = sum(free.values()) if placed else free["cpu"]
        say(need.sentence(room) + (f", {', '.join(devices(free))} among them" if placed else ""))
        need.check(room)
    return Target.load(folder, getattr(torch, args.dtype), placed)


def load_drafter(args: argparse.Namespace, target: Target, candidates: int = CANDIDATES) -> Drafter:
    """The drafter that the options name, giving so many ``candidates`` for each node."""
    from ..engine.drafted import HeadDrafter, OracleDrafter
    from ..engine.head import Head

    if args.drafter == "oracle":
        return OracleDrafter(target, candidates)
    return HeadDrafter(Head.load(args.head, target), candidates, name=Path(args.head).name)


def run_record(args: argparse.Namespace) -> int:
    """Record the shipped prompts, or one of one's own; print the files written."""
    from ..core.recording import write

    served, chosen = check_served(args.parser, args), _prompts_to_record(args)
    for recording in record_from_servers(args, chosen) if served else _record_here(args, chosen):
        print(write(recording, Path(args.to) / f"{recording.name}.npz"))
    return 0


def _record_here(args: argparse.Namespace, prompts: list[Prompt]) -> list[Recording]:
    from ..engine.recorder import record

    target = load_target(args)
    named = {} if args.target is None else {"target_name": Path(args.target).name}
    return record(
        target,
        load_drafter(args, target),
        prompts,
        max_new_tokens=args.max_new_tokens,
        contexts=args.contexts,
        report=lambda now: say(f"{now.prompt}: {now.step} {now.done}/{now.total}"),
        **named,
    )


def _prompts_to_record(args: argparse.Namespace) -> list[Prompt]:
    from ..engine.prompts import PROMPTS, Prompt

    if args.prompt is not None:
        if args.prompts is not None:
            raise ValueError("prompts: given beside --prompt, allowed is one of both")
        if not _NAME.fullmatch(args.name):
            raise ValueError(f"name: {args.name!r} given, allowed are letters, digits, - and _")
        return [Prompt(args.name, args.prompt.strip()[:40], "own", args.prompt, args.system, raw=args.raw)]
    for field in ("system", "raw"):
        if getattr(args, field):
            raise ValueError(f"{field}: given without --prompt, allowed only beside it: the shipped prompts are asked as they are")
    known = {prompt.name: prompt for prompt in PROMPTS}
    unknown = [name for name in args.prompts or () if name not in known]
    if unknown:
        raise ValueError(f"prompts: {unknown[0]!r} given, allowed are {', '.join(known)}")
    return [known[name] for name in args.prompts or known]
