"""An argument parser whose complaint is one clear line, and the pieces that several commands share."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import NoReturn

from ..core.landscape import Landscape, RankLandscape, SyntheticLandscape
from ..core.policies import POLICIES, Policy
from ..core.readout import as_policy


class Parser(argparse.ArgumentParser):
    """argparse, saying what is wrong in one line instead of a usage block."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message} (see {self.prog} --help)\n")


def add_landscape(parser: argparse.ArgumentParser) -> None:
    """The options that choose a landscape: a synthetic one, or the same confidences everywhere."""
    group = parser.add_argument_group("landscape")
    group.add_argument("--seed", type=int, default=7, help="0 to 2^32 - 1 (default 7)")
    group.add_argument("--sharpness", type=float, default=2.5, help="0.8 is flat, 2.5 sharp (default 2.5)")
    group.add_argument("--branching", type=int, default=4, help="candidates per node (default 4)")
    group.add_argument("--coverage", type=float, default=1.0, help="probability mass the candidates hold together (default 1)")
    group.add_argument("--confidences", help="the same children everywhere instead, by rank: 0.6,0.2,0.08")


def add_dynamic(parser: argparse.ArgumentParser) -> None:
    """EAGLE-2's parameters; ``--max-depth`` caps best_first too."""
    parser.add_argument("--top-k", type=int, default=10, help="frontier width and children scored per node (default 10)")
    parser.add_argument("--max-depth", type=int, help="levels below the root (default: eagle2 6, best_first without a cap)")
    parser.add_argument(
        "--early-stop", action="store_true", help="eagle2: no draft pass that cannot change its tree (not the paper's)"
    )


def landscape_of(args: argparse.Namespace) -> Landscape:
    """The landscape that the options describe; raises ``ValueError`` naming the field."""
    if args.confidences is not None:
        return RankLandscape(parse_numbers("confidences", args.confidences))
    return SyntheticLandscape(args.seed, args.sharpness, args.branching, args.coverage)


def policy_of(name: str, args: argparse.Namespace) -> Policy:
    """The named policy with the options that concern it; raises ``ValueError`` naming the field."""
    as_policy(name)
    depth = {} if args.max_depth is None else {"max_depth": args.max_depth}
    if name == "eagle2":
        return POLICIES[name](top_k=args.top_k, early_stop=args.early_stop, **depth)
    return POLICIES[name](**depth) if name == "best_first" else POLICIES[name]()


def parse_numbers(name: str, text: str) -> list[float]:
    """Numbers separated by commas; raises ``ValueError`` naming the field and the value."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name}: {text!r} given, allowed are numbers separated by commas, as in 0.6,0.2,0.08") from None


def print_json(document: dict) -> None:
    """One JSON document on standard output, keys in the order given; what is not a number is null."""
    print(json.dumps(_finite(document), ensure_ascii=False, allow_nan=False))


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def say(message: str) -> None:
    """Progress, to standard error."""
    print(message, file=sys.stderr, flush=True)
