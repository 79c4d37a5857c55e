"""``generate``: answers of the real model, a drafted tree a pass. torch is imported when the command runs, not before."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ..core.documents import VERSION
from ..core.policies import Policy
from ..core.verification import acceptance_sentence
from .model import CANDIDATES, add_chat, add_model, add_reading, load_drafter, load_target
from .parser import add_parameters, policy_names, policy_of, print_json, say

if TYPE_CHECKING:
    from ..engine.cycle import Cycle
    from ..engine.drafted import Drafter
    from ..engine.generation import Generation
    from ..engine.plain import LosslessCheck
    from ..engine.prompts import Prompt
    from ..engine.target import Target


class Answer(NamedTuple):
    """One turn answered: the finished run, its cycles, the seconds it took, and the check against plain decoding, if asked for."""

    run: Generation
    cycles: list[Cycle]
    seconds: float
    check: LosslessCheck | None


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register ``generate``."""
    _add_generate(commands.add_parser("generate", help="answer a prompt, pass by pass, with a drafted tree a pass"))


def _add_generate(parser: argparse.ArgumentParser) -> None:
    turns = "user turns in the target's chat template; each is answered before the next is asked"
    parser.add_argument("--prompt", nargs="+", metavar="TURN", required=True, help=turns)
    add_chat(parser)
    parser.add_argument("--policy", default="eagle2", help=policy_names())
    parser.add_argument("--budget", type=int, default=25, help="drafted nodes a pass, the root not counted (default 25)")
    add_parameters(parser)
    parser.add_argument("--max-new-tokens", type=int, default=96, help="length of the answer (default 96)")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 is greedy (default)")
    parser.add_argument("--top-p", type=float, default=1.0, help="nucleus, when sampling (default 1)")
    parser.add_argument("--seed", type=int, default=0, help="of the sampling")
    add_reading(parser)
    parser.add_argument("--check", action="store_true", help="decode plainly too and compare, token for token (greedy only)")
    parser.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    add_model(parser)
    parser.set_defaults(run=run_generate)


def run_generate(args: argparse.Namespace) -> int:
    """Answer the turns one after the other; 1 where ``--check`` finds a difference that is no near-tie.

    The JSON document is the last answer's; those before stand in it under ``"earlier"`` where there were several turns.
    """
    if args.check and args.temperature:
        raise ValueError(f"check: temperature {args.temperature} given, allowed is 0: a sampled answer has no one right text")
    prompts, policy = _prompts(args), policy_of(args.policy, args)
    if policy.needs_average:
        raise ValueError(f"policy: {args.policy!r} given, allowed is one that needs no average context, which a live run lacks")
    answers = list(_answers(args, prompts, policy))
    if args.json:
        *earlier, last = map(_document, answers)
        print_json(last | ({"earlier": earlier} if earlier else {}))
    checks = [answer.check for answer in answers if answer.check is not None]
    return 0 if all(check.identical or check.near_tie for check in checks) else 1


def _prompts(args: argparse.Namespace) -> list[Prompt]:
    """The turns as they were typed, without the answers between them."""
    from ..engine.prompts import Prompt

    if args.raw and len(args.prompt) > 1:
        raise ValueError(f"raw: given beside {len(args.prompt)} turns, allowed is one text to go on with")
    return [Prompt("own", "Your prompt", "own", text, args.system, raw=args.raw) for text in args.prompt]


def _answers(args: argparse.Namespace, prompts: list[Prompt], policy: Policy) -> Iterator[Answer]:
    """Each turn's answer, put behind those before it; printed as it comes unless JSON is wanted."""
    from ..engine.sampling import Settings

    settings = Settings(args.max_new_tokens, args.temperature, args.top_p, args.seed, False, args.reading)
    target = load_target(args)
    drafter = load_drafter(args, target, max(CANDIDATES, args.top_k or 0))
    before: tuple[str, ...] = ()
    for prompt in prompts:
        asked = replace(prompt, before=before)
        answer = _answer(target, drafter, asked, args, policy, settings)
        before = (*before, asked.text, answer.run.text)
        if not args.json:
            _print(answer)
        yield answer


def _answer(target: Target, drafter: Drafter, prompt: Prompt, args: argparse.Namespace, policy: Policy, settings) -> Answer:
    from ..engine.generation import generate
    from ..engine.plain import check_lossless
    from ..engine.texts import TextStream

    stream, cycles, began = TextStream(target.tokenizer), [], perf_counter()
    run = generate(target, drafter, prompt.encode(target), {policy.name: (policy, args.budget)}, settings)
    for cycle in run:
        if not cycles:
            say(f"prompt read: the first token, {stream.add(run.tokens[0])!r}")
        cycles.append(cycle)
        say(f"pass {len(cycles)}: {len(cycle.tokens)} tokens, {''.join(map(stream.add, cycle.tokens))!r}")
    seconds = perf_counter() - began
    most = max((cycle.drafts[policy.name].budget for cycle in cycles), default=args.budget)
    if most < args.budget:
        say(f"budget: {args.budget} given, {most} drafted a pass at most: {policy.title} finds no more nodes at these settings")
    return Answer(run, cycles, seconds, check_lossless(target, run.prompt, run.tokens) if args.check else None)


def _document(answer: Answer) -> dict:
    """The stable document: tau counts tokens written, the bonus among them, not the prompt's own pass; seconds include it."""
    run, cycles, check = answer.run, answer.cycles, answer.check
    return {
        "version": VERSION,
        "text": run.text,
        "tokens": run.tokens,
        "tau": run.tau() if cycles else None,
        "acceptance": run.acceptance(),
        "cycles": [cycle.to_json() for cycle in cycles],
        "seconds": answer.seconds,
        "check": None if check is None else check.to_json(),
    }


def _print(answer: Answer) -> None:
    run, seconds, check = answer.run, answer.seconds, answer.check
    name = next(iter(run.contest))
    print(run.text)
    speed = f"{len(run.tokens)} tokens in {seconds:.1f} s ({len(run.tokens) / seconds:.1f} tokens/s)"
    say(f"{speed}; {run.passes} verify passes, tau {run.tau():.2f} measured, {run.expected_tau():.2f} expected")
    say(acceptance_sentence(run.accept_lengths[name], run.drafted[name]))
    if check is not None:
        apart = f"parts at token {check.first_difference}" + ("" if check.gap is None else f", logit gap {check.gap:.2g}")
        say(f"plain greedy decoding: {'identical' if check.identical else apart}")
