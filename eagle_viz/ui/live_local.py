"""A live run with the models of this machine: passes shown as they come, speed measured in turns, wider drafting afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from statistics import median
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from ..core.policies import Eagle2
from ..core.verification import acceptance_sentence

if TYPE_CHECKING:
    from ..engine.assembly import Progress
    from ..engine.cycle import Cycle
    from ..engine.drafted import Drafter
    from ..engine.generation import Generation
    from ..engine.target import Target
    from .live import Live, Request

PUBLISH = 2.0
"""Seconds between two showings of an answer that grows."""
ROUNDS = 3
"""Rounds of a measured speed."""


def generate(live: Live, request: Request, target: Target, drafter: Drafter) -> None:
    """Answer the prompt; raises ``Stopped`` where the user has had enough: the passes made stay."""
    from ..engine.generation import Generation
    from ..engine.recorder import record_as_drafted, tail_of
    from ..engine.sampling import Settings

    live.say("reading the prompt")
    settings = Settings(request.limit)
    run = Generation(target, drafter, request.prompt.encode(target), request.contest, settings, request.beside)
    cycles = _follow(live, request, run)
    if cycles:
        live.say("reading on after the answer")
        live.publish(record_as_drafted(run, cycles, request.prompt, tail_of(target, run)))
    if request.timed:
        _time(live, request, run)
    if request.every_setting and cycles:
        _draft_everything(live, request, run, cycles)


def _follow(live: Live, request: Request, run: Generation) -> list[Cycle]:
    """Generate; each pass is on the page soon after it was made, and whatever ends the run, the passes made stay."""
    from ..engine.recorder import record_as_drafted
    from ..engine.texts import TextStream

    cycles, stream, published = [], TextStream(run.target.tokenizer), -PUBLISH
    try:
        for cycle in run:
            cycles.append(cycle)
            accepted = cycle.verdicts[cycle.leader].accept_length
            kinds = ["first"] * (len(cycles) == 1) + ["accepted"] * accepted + ["bonus"]
            live.pieces += zip(map(stream.add, run.tokens[len(live.pieces) :]), kinds, strict=False)
            if monotonic() - published > PUBLISH:
                live.publish(record_as_drafted(run, cycles, request.prompt))
                published = monotonic()
            live.say(f"pass {run.passes}", len(run.tokens) / request.limit)
        # An answer of one token has no pass.
        live.pieces += [(stream.add(token), "first") for token in run.tokens[len(live.pieces) :]]
    finally:
        live.pieces.append((stream.rest(), "bonus"))
        live.numbers |= {"tokens": len(run.tokens), "passes": run.passes, "tau": run.tau(), "expected": run.expected_tau()}
        live.numbers["acceptance"] = acceptance_sentence(run.accept_lengths["eagle2"], run.drafted["eagle2"])
        if cycles:
            live.publish(record_as_drafted(run, cycles, request.prompt))
    return cycles


def _time(live: Live, request: Request, run: Generation) -> None:
    """The same answer drafted and plain in turns, so that whatever else the machine does meets both; and whether they are equal."""
    from ..engine.generation import Generation
    from ..engine.plain import plain
    from ..engine.sampling import Settings

    # The same trees as without `early_stop`, in fewer draft passes, and nothing else drafted.
    leader = {"eagle2": (Eagle2(request.top_k, request.max_depth, early_stop=True), request.budget)}
    settings = Settings(max(1, len(run.tokens)), probabilities=False)
    drafted, undrafted, found = [], [], []
    for number in range(1, ROUNDS + 1):
        live.say(f"measuring the speed, round {number} of {ROUNDS}", (number - 1) / ROUNDS)
        began, again = perf_counter(), Generation(run.target, run.drafter, run.prompt, leader, settings)
        for _ in again:
            live.say(f"measuring the speed, round {number} of {ROUNDS}: drafted", (number - 1) / ROUNDS)
        drafted.append(len(again.tokens) / (perf_counter() - began))
        began, found = perf_counter(), []
        for token, _ in plain(run.target, run.prompt, settings):
            found.append(token)
            live.say(f"measuring the speed, round {number} of {ROUNDS}: plain", (number - 0.5) / ROUNDS)
        undrafted.append(len(found) / (perf_counter() - began))
    parted = next((i for i, pair in enumerate(zip_longest(found, run.tokens)) if pair[0] != pair[1]), None)
    same = "identical to plain decoding" if parted is None else f"differs from plain decoding at token {parted + 1}"
    live.numbers |= {"speed": speed_sentence(drafted, undrafted), "same": same}


def speed_sentence(drafted: Sequence[float], undrafted: Sequence[float]) -> str:
    """Tokens a second with and without drafts, median and range of rounds made in turns; a ratio only where the ranges are apart.

    >>> speed_sentence([30.0, 31.0, 29.0], [20.0, 21.0, 19.0])
    '30.0 tokens a second drafted (29.0 to 31.0), 20.0 plain (19.0 to 21.0), 3 rounds in turns: 1.50 times plain decoding'
    """
    ranges = [f"({min(rounds):.1f} to {max(rounds):.1f})" for rounds in (drafted, undrafted)]
    measured = (
        f"{median(drafted):.1f} tokens a second drafted {ranges[0]}, {median(undrafted):.1f} plain {ranges[1]}, "
        f"{len(drafted)} rounds in turns"
    )
    if min(drafted) > max(undrafted) or max(drafted) < min(undrafted):
        return f"{measured}: {median(drafted) / median(undrafted):.2f} times plain decoding"
    return f"{measured}: the rounds overlap, so this machine shows no difference now"


def _draft_everything(live: Live, request: Request, run: Generation, cycles: list[Cycle]) -> None:
    """Draft every context again, wide enough for every setting of the page."""
    from ..engine.expansion import HOLDS, expand_all
    from ..engine.recorder import record_run

    def report(now: Progress) -> None:
        live.say(f"drafting for all other settings: context {now.done} of {now.total}", now.done / now.total)

    expand = partial(expand_all, greedy=run.drafter.greedy)
    live.publish(record_run(run, cycles, request.prompt, expand, HOLDS, report=report))
