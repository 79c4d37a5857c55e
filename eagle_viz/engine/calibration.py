"""Confidence against acceptance of live runs; `core.calibration` counts."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from eagle_viz.core.calibration import CalibrationReport, Context, standings_of, summarise
from eagle_viz.core.policies import Eagle2, Policy
from eagle_viz.core.reliability import sampled_value
from eagle_viz.engine.cycle import Cycle
from eagle_viz.engine.drafted import Drafter
from eagle_viz.engine.generation import Contest, Generation, calibration_for
from eagle_viz.engine.prompts import Prompt
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target


def calibrate_live(
    target: Target,
    drafter: Drafter,
    prompts: Iterable[Prompt],
    policy: Policy | None = None,
    budget: int = 59,
    max_new_tokens: int = 128,
    others: Contest | None = None,
    reading: str | None = None,
    report: Callable[[str, int], None] = lambda name, cycles: None,
    finished: Callable[[Generation], None] = lambda run: None,
) -> CalibrationReport:
    """Answer the prompts greedily and compare every reached node's confidence with the target's probability and its fate.

    The text follows `policy`; `others` are verified on the same contexts, in the same passes. `reading` as in
    `sampling.Settings`; `finished` is called with the run of each prompt.
    Raises ValueError where no prompt leads to a cycle, or the drafter lacks the reading.
    """
    policy = policy or Eagle2()
    leader = f"{policy.name}:{budget}"
    contest = {leader: (policy, budget)} | dict(others or {})
    outcomes, counts, contexts = [], [], {name: [] for name in contest}
    settings = Settings(max_new_tokens, reading=reading)
    for prompt in prompts:
        run = Generation(target, drafter, prompt.encode(target), contest, settings)
        for cycle in run:
            outcomes.append((cycle.landscape, cycle.drafts[leader].tree, cycle.verdicts[leader]))
            counts.append(cycle.written[leader])
            for name in contest:
                contexts[name].append(_context(prompt, cycle, name))
        report(prompt.name, len(outcomes))
        finished(run)
    read = "sampling" if calibration_for(drafter, settings) is None else "greedy"
    found = summarise(drafter.name, policy.name, budget, outcomes, counts, read)
    return replace(found, standings=standings_of(contest, contexts) if others else ())


def _context(prompt: Prompt, cycle: Cycle, name: str) -> Context:
    tree = cycle.drafts[name].tree
    lengths = cycle.verdicts[name].accept_length, cycle.written[name]
    return Context(prompt.name, prompt.kind, tree.budget, tree.expected_accepted, sampled_value(cycle.landscape, tree), *lengths)
