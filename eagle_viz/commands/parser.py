"""An argument parser whose complaint is one clear line, and the pieces that several commands share."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from ..core.landscape import Landscape, RankLandscape, SyntheticLandscape
from ..core.policies import POLICIES, Draft, Policy, every_parameter, read_choices
from ..core.policies.fixed_order import EXAMPLE
from ..core.readout import as_policy, draft_up_to, shortfall_sentence

OWN_SHAPE = f"or a fixed shape of your own: a node list as in '{EXAMPLE}', or a file that holds one"


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
    group.add_argument(
        "--coverage", type=float, default=1.0, help="chance that the true next token is among the candidates (default 1)"
    )
    group.add_argument("--confidences", help="the same children everywhere instead, by rank: 0.6,0.2,0.08")


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """An option for each parameter of any policy; what a policy lacks is refused by ``policies_of``."""
    group = parser.add_argument_group("parameters of policies")
    for name, parameter in every_parameter().items():
        shape = {"action": "store_true"} if parameter.kind is bool else {"type": parameter.kind}
        group.add_argument(f"--{name.replace('_', '-')}", default=None, help=f"{parameter.help} ({_defaults(name)})", **shape)


def _defaults(name: str) -> str:
    """Which policies take this parameter, and their defaults: ``"eagle2: 6, best_first: 6"``."""
    takers = {policy: getattr(made.offered(), name) for policy, made in POLICIES.items() if takes(made, name)}
    return ", ".join(policy if value is False else f"{policy}: {value}" for policy, value in takers.items())


def takes(policy: Policy | type[Policy], parameter: str) -> bool:
    """Whether a policy has this parameter."""
    return any(entry.name == parameter for entry in policy.parameters)


def policy_names() -> str:
    """Every policy by name, for a help text."""
    return f"{', '.join(POLICIES)}; {OWN_SHAPE}"


def named_policy(name: str) -> Policy:
    """The policy that a command line means: a name (with the parameters that the page starts from too), a node list, or a file that
    holds one; raises what ``as_policy`` raises.
    """
    if name in POLICIES:
        return POLICIES[name].offered()
    listed = name.lstrip()[:1] in ("[", "(")
    if not listed and Path(name).is_file():
        return read_choices(Path(name).read_text(encoding="utf-8", errors="replace"))
    return as_policy(name)


def landscape_of(args: argparse.Namespace) -> Landscape:
    """The landscape that the options describe; raises ``ValueError`` naming the field."""
    if args.confidences is not None:
        return RankLandscape(parse_numbers("confidences", args.confidences))
    return SyntheticLandscape(args.seed, args.sharpness, args.branching, args.coverage)


def policy_of(name: str, args: argparse.Namespace) -> Policy:
    """The named policy with the options given; raises ``ValueError`` naming an option that it does not take."""
    return policies_of((name,), args)[0]


def policies_of(names: Sequence[str], args: argparse.Namespace) -> list[Policy]:
    """The named policies, each with those of the given options that it takes.

    Raises ``ValueError`` naming the field where a policy is unknown, or an option is taken by none of these policies.
    """
    policies = [named_policy(name) for name in names]
    given = {name: getattr(args, name) for name in every_parameter() if getattr(args, name) is not None}
    for field, value in given.items():
        if not any(takes(policy, field) for policy in policies):
            able = ", ".join(name for name, policy in POLICIES.items() if takes(policy, field))
            nobody = f"{names[0]} takes no" if len(set(names)) == 1 else f"neither {' nor '.join(names)} takes"
            raise ValueError(f"{field}: {value} given, but {nobody} {field}; allowed with {able}")
    return [replace(policy, **{field: value for field, value in given.items() if takes(policy, field)}) for policy in policies]


def drafted(policy: Policy, landscape: Landscape, budget: int) -> Draft:
    """The draft with this budget, or what there is of it, said on standard error."""
    draft, error = draft_up_to(policy, landscape, budget)
    if error is not None:
        say(shortfall_sentence(policy, error, budget))
    return draft


def parse_numbers(name: str, text: str) -> list[float]:
    """Numbers separated by commas; raises ``ValueError`` naming the field and the value."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name}: {text!r} given, allowed are numbers separated by commas, as in 0.6,0.2,0.08") from None


def print_json(document: dict) -> None:
    """One JSON document on standard output, keys in the order given; what is not a number is null.

    Characters that the terminal cannot show are escaped, so that the document stays what it is.
    """
    text = _json(document, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = _json(document, ensure_ascii=True)
    print(text)


def _json(document: dict, ensure_ascii: bool) -> str:
    try:
        return json.dumps(document, ensure_ascii=ensure_ascii, allow_nan=False)
    except ValueError:  # a number that is none: the document is copied only then
        return json.dumps(_finite(document), ensure_ascii=ensure_ascii, allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def say(message: str) -> None:
    """Progress, to standard error."""
    print(message, file=sys.stderr, flush=True)
