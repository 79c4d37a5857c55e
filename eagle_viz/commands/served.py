"""``record`` with served models: the options that name them, and the recordings. No torch."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .parser import say

if TYPE_CHECKING:
    from ..core.recording import Recording
    from ..engine.prompts import Prompt
    from ..engine.served import ServedModel

LOCAL = ("target", "head", "drafter", "dtype", "device")
"""Options that speak of a model on this machine."""


def add_served(parser: argparse.ArgumentParser) -> None:
    """The options that name servers."""
    group = parser.add_argument_group("served models (vLLM, SGLang, llama.cpp); keys are read from the environment")
    group.add_argument("--drafter-url", help="the drafter's server; without --target-url it drafts for itself (EAGLE_VIZ_API_KEY)")
    group.add_argument("--target-url", help="address of the target's server, of the same vocabulary (EAGLE_VIZ_TARGET_API_KEY)")
    group.add_argument("--drafter-model", help="name of the drafter, where a server has several (default: its first)")
    group.add_argument("--target-model", help="name of the target (default: its server's first)")
    group.add_argument("--timeout", type=float, default=60.0, help="seconds that one answer of a server may take (default 60)")


def check_served(parser: argparse.ArgumentParser, args: argparse.Namespace) -> bool:
    """Whether servers are asked; raises ``ValueError`` naming an option that does not go with the others."""
    if args.drafter_url is None:
        for field in ("target_url", "drafter_model", "target_model", "timeout"):
            if getattr(args, field) != parser.get_default(field):
                raise ValueError(f"{field}: given without --drafter-url, allowed only beside it")
        return False
    if args.target_url is None and args.target_model is not None:
        raise ValueError("target_model: given without --target-url, allowed only beside it")
    for field in LOCAL:
        if getattr(args, field) != parser.get_default(field):
            raise ValueError(f"{field}: given beside --drafter-url, allowed is one of both: models on this machine or served ones")
    return True


def record_from_servers(args: argparse.Namespace, prompts: Sequence[Prompt]) -> list[Recording]:
    """Ask the servers that the options name; raises ``ServedError`` in one sentence."""
    from ..engine.served import KEY_VARIABLE, TARGET_KEY_VARIABLE, record_served

    drafter = _served(args.drafter_url, args.drafter_model, args.timeout, KEY_VARIABLE)
    target = _served(args.target_url, args.target_model, args.timeout, TARGET_KEY_VARIABLE) if args.target_url else None
    return record_served(
        drafter,
        target,
        prompts,
        max_new_tokens=args.max_new_tokens,
        contexts=args.contexts,
        report=lambda now: say(f"{now.prompt}: {now.step} {now.done}/{now.total}"),
    )


def _served(url: str, model: str | None, timeout: float, variable: str) -> ServedModel:
    from ..engine.served import Client, ServedModel

    return ServedModel.find(Client(url, timeout, variable=variable), model)
