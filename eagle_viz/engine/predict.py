"""Is the predicted speed the measured one? Settings rehearsed on known answers, priced by parts, and decoded."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import torch

from eagle_viz.core.greedy import as_drafted, in_reading
from eagle_viz.core.policies import Chain, ConfidentChain, Ddd, Eagle1, Eagle2, Policy, Priced
from eagle_viz.core.prediction import PartTimes, Predicted, PredictionReport, Rehearsed, predicted_speed
from eagle_viz.core.readout import draft_up_to
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.generation import Generation, calibration_for
from eagle_viz.engine.head import Head
from eagle_viz.engine.known_texts import KnownText, contexts_along
from eagle_viz.engine.part_times import Round, part_times, time_round
from eagle_viz.engine.plain import plain
from eagle_viz.engine.prompts import Prompt
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target

SETTINGS: dict[str, tuple[Policy, int]] = {
    "chain 3": (Chain(), 3),
    "chain until unsure 8": (ConfidentChain(), 8),
    "eagle1 25": (Eagle1(), 25),
    "eagle2 k10 d6 8": (Eagle2(), 8),
    "eagle2 k10 d6 25": (Eagle2(), 25),
    "eagle2 k10 d6 59": (Eagle2(), 59),
    "eagle2 k10 d6 25 early": (Eagle2(early_stop=True), 25),
    "eagle2 k4 d4 8 early": (Eagle2(top_k=4, max_depth=4, early_stop=True), 8),
    "eagle2 k7 d2 15": (Eagle2(top_k=7, max_depth=2), 15),
    "eagle2 k3 d1 3": (Eagle2(top_k=3, max_depth=1), 3),
    "ddd k10 d6 15": (Ddd(), 15),
    "priced": (Priced(), 59),
}
"""Policies, budgets, depths, widths and stops, in every precision asked for."""


class Bench:
    """A target and a head in one precision, the target's greedy answers in it, and the rounds in which its parts were timed."""

    def __init__(
        self, target_folder: str | Path, head_folder: str | Path, dtype: torch.dtype, prompts: Sequence[Prompt], limit: int
    ):
        self.dtype = str(dtype).removeprefix("torch.")
        self.target = Target.load(target_folder, dtype)
        self.drafter = HeadDrafter(Head.load(head_folder, self.target))
        self.settings = Settings(limit, probabilities=False)
        self.rounds: list[Round] = []
        self.texts = [text for prompt in prompts if (text := _answered(self.target, prompt, self.settings)) is not None]

    def rehearsed(self, contest: Mapping[str, tuple[Policy, int]] = SETTINGS) -> dict[str, list[Rehearsed]]:
        """What every setting does in each context along the answers."""
        found: dict[str, list[Rehearsed]] = {name: [] for name in contest}
        calibration = calibration_for(self.drafter, self.settings)
        for text in self.texts:
            for cycle in contexts_along(self.target, self.drafter, text, ahead=()):
                for name, (policy, budget) in contest.items():
                    draft = draft_up_to(policy, cycle.landscape, budget)[0]
                    # The head has answered for all of it by now: drafting once more takes the policy's own time and no more.
                    again, began = in_reading(as_drafted(cycle.landscape), calibration), perf_counter()
                    draft_up_to(policy, again, budget)
                    seconds = perf_counter() - began
                    widths = tuple(len(frontier) for frontier in draft.frontiers[1:])
                    wrote = cycle.written(cycle.verdict(draft.tree).accept_length)
                    found[name].append(Rehearsed(widths, draft.budget, wrote, cycle.position, 1000 * seconds))
        return found

    def decoded(self, name: str, policy: Policy, budget: int, text: KnownText) -> tuple[int, int, float]:
        """Tokens written by verify passes, passes, and their seconds, of one answer decoded for real."""
        run = Generation(self.target, self.drafter, text.prompt, {name: (policy, budget)}, self.settings)
        for _ in run:
            pass
        return len(run.tokens) - 1, run.passes, sum(run.seconds[part] for part in ("draft", "verify", "rest"))

    def time_round(self) -> Round:
        """Every part of a cycle, timed once."""
        return time_round(self.target, self.drafter)

    def predicted(self, contexts: Sequence[Rehearsed], times: PartTimes) -> float:
        """Tokens a second of one setting."""
        return predicted_speed(contexts, [len(one.prompt) for one in self.texts], [len(one.answer) for one in self.texts], times)


def _answered(target: Target, prompt: Prompt, settings: Settings) -> KnownText | None:
    """The target's greedy answer, None where it is over at once."""
    ids = prompt.encode(target)
    answer = tuple(token for token, _ in plain(target, ids, settings))
    return KnownText(prompt.name, prompt.kind, tuple(ids), answer) if len(answer) > 1 else None


def bench_predict(
    target_folder: str | Path,
    head_folder: str | Path,
    prompts: Sequence[Prompt],
    max_new_tokens: int = 64,
    dtypes: Sequence[torch.dtype] = (torch.float32, torch.bfloat16),
    rounds: int = 3,
    contest: Mapping[str, tuple[Policy, int]] = SETTINGS,
    report: Callable[[str], None] = lambda said: None,
) -> PredictionReport:
    """Predicted and measured speeds: in each round every prompt by every setting in every precision, one after the other.

    Before each prompt of a round the parts are timed once, on texts of their own: a machine's speed drifts, and both sides should
    have met the same machine. No time of a decoding enters a prediction. Both sides count the tokens behind the prompt's own pass,
    and the seconds of the cycles. Raises ValueError where no prompt has an answer of two tokens, or for fewer than one round.
    """
    if rounds < 1:
        raise ValueError(f"rounds: {rounds} given, allowed is 1 or more")
    benches = []
    for dtype in dtypes:
        benches.append(Bench(target_folder, head_folder, dtype, prompts, max_new_tokens))
        report(f"{benches[-1].dtype}: {len(benches[-1].texts)} answers decoded plainly")
    if not benches or not all(bench.texts for bench in benches):
        raise ValueError("prompts: no answer of two tokens or more, at least one is needed")
    rehearsed = {}
    for bench in benches:
        rehearsed |= {(name, bench.dtype): contexts for name, contexts in bench.rehearsed(contest).items()}
        contexts = rehearsed[next(iter(contest)), bench.dtype]
        report(f"{bench.dtype}: every setting rehearsed on {len(contexts)} contexts")
    counts = _measure(benches, contest, rounds, report)
    rows = []
    for bench in benches:
        times = part_times(bench.rounds)
        for name in contest:
            contexts, (tokens, passes, seconds) = rehearsed[name, bench.dtype], counts[name, bench.dtype]
            tau = sum(one.written for one in contexts) / len(contexts)
            speed = bench.predicted(contexts, times)
            rows.append(Predicted(name, bench.dtype, speed, tokens / seconds, tau, tokens / passes))
    return PredictionReport(tuple(rows))


def _measure(
    benches: Sequence[Bench], contest: Mapping[str, tuple[Policy, int]], rounds: int, report: Callable[[str], None]
) -> dict[tuple[str, str], tuple[int, int, float]]:
    """Tokens, passes and seconds of each setting and precision, each answer at its median over the rounds.

    A first answer of each warms up, uncounted, as does a first round of the parts.
    """
    seconds: dict[tuple[str, str, int], list[float]] = {}
    counts: dict[tuple[str, str, int], tuple[int, int]] = {}
    for number in range(rounds + 1):
        for place in range(1 if number == 0 else max(len(bench.texts) for bench in benches)):
            for bench in benches:
                timed = bench.time_round()
                bench.rounds += [timed] if number else []
            for bench in benches:
                for name, entry in contest.items() if place < len(bench.texts) else ():
                    *counted, spent = bench.decoded(name, *entry, bench.texts[place])
                    if number:
                        key = name, bench.dtype, place
                        counts[key] = tuple(counted)
                        seconds.setdefault(key, []).append(spent)
        if number:
            report(f"round {number} of {rounds} decoded")
    found: dict[tuple[str, str], tuple[int, int, float]] = {}
    for (name, dtype, place), spent in seconds.items():
        one = (*counts[name, dtype, place], median(spent))
        found[name, dtype] = tuple(map(sum, zip(found.get((name, dtype), (0, 0, 0.0)), one, strict=True)))
    return found
