"""``train`` and ``fit``: a draft head for a target, from nothing or from another head, and its calibration for greedy decoding."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from .model import add_model, load_target, target_folder
from .parser import say

KINDS = ("eagle", "eagle3")


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register ``train`` and ``fit``."""
    _add_fit(commands)
    parser = commands.add_parser("train", help="train an EAGLE head for a target: corpus, features, training, calibration")
    parser.add_argument("--out", required=True, help="folder for the head")
    parser.add_argument("--kind", choices=KINDS, default="eagle", help="eagle: the EAGLE-1/2 head (default); eagle3")
    parser.add_argument("--work", help="folder for corpus, features and state (default: under EAGLE_VIZ_HOME or ~/.cache)")
    parser.add_argument("--corpus", help="a corpus file to train on instead of sampling a new one")
    parser.add_argument("--target", help="folder or hub id (default: the fetched target)")
    parser.add_argument("--start", help="folder of a trained head of the same kind to go on from (default: the closed form)")
    parser.add_argument("--plan", nargs="+", default=[], help="fields of the training plan: feature_weight=0.1 held_out_from=6126")
    parser.add_argument("--steps", type=int, default=None, help="optimiser steps (default: the recipe's)")
    parser.add_argument("--seed", type=int, default=0, help="of the initial weights and the order of batches")
    parser.set_defaults(run=run_train)


def _add_fit(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("fit", help="fit what a head's confidences say of greedy decoding, into a copy's config.json")
    parser.add_argument("--out", required=True, help="folder for the head with the fit")
    add_model(parser)
    parser.set_defaults(run=run_fit)


def run_fit(args: argparse.Namespace) -> int:
    """Answer the recipe's prompts of other kinds greedily, fit the calibration, write the head; print its folder."""
    from ..engine.checkpoint import read_head, write_head
    from ..training.recipe import fitted_for_greedy

    if args.drafter != "head":
        raise ValueError(f"drafter: {args.drafter!r} given, allowed is 'head': there is nothing to fit in the target itself")
    head = fitted_for_greedy(load_target(args), read_head(args.head), say_progress)
    write_head(args.out, head)
    print(args.out)
    return 0


def say_progress(stage: str, fraction: float) -> None:
    """A line of progress."""
    say(f"{fraction:4.0%} {stage}")


def plan_of(entries: Sequence[str]) -> dict[str, int | float]:
    """Fields of ``TrainPlan`` from ``name=number``; raises ``ValueError`` naming the entry.

    >>> plan_of(["feature_weight=0.1", "batch=8"])
    {'feature_weight': 0.1, 'batch': 8}
    """
    from ..training.train import TrainPlan

    kinds, chosen = {field.name: field.type for field in fields(TrainPlan) if field.name != "kind"}, {}
    for entry in entries:
        name, _, number = entry.partition("=")
        try:
            chosen[name] = kinds[name](number)
        except (KeyError, ValueError):
            kind = "a whole number" if kinds.get(name) is int else "a number"
            wanted = f"{name}={kind}" if name in kinds else f"name=number with one of {', '.join(kinds)}"
            raise ValueError(f"plan: {entry!r} given, allowed is {wanted}") from None
    return chosen


def run_train(args: argparse.Namespace) -> int:
    """Train a head, or go on where a stopped run was; print its folder."""
    from ..engine.fetch import home
    from ..training.recipe import train_head
    from ..training.train import TrainPlan

    chosen = {"kind": args.kind} | plan_of(args.plan) | ({} if args.steps is None else {"steps": args.steps})
    work = Path(args.work) if args.work else home() / "training"
    train_head(
        target_folder(args),
        args.out,
        work,
        corpus=args.corpus,
        start=args.start,
        plan=TrainPlan(**{"seed": args.seed} | chosen),
        progress=say_progress,
    )
    print(args.out)
    return 0
