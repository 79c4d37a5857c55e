"""Making recordings: generate, then draft every context of the answer again, wide enough for all that the page may ask."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import torch

from eagle_viz.core.greedy import GreedyCalibration
from eagle_viz.core.landscape import Candidates
from eagle_viz.core.policies import BestStatic
from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.recording import MAX_BUDGET, TOP_K, LiveVerdict, Recording
from eagle_viz.core.tree import DraftTree, Node, Path
from eagle_viz.engine.assembly import (
    TAIL,
    Context,
    Progress,
    Text,
    assemble,
    average_of_others,
    averaged,
    evenly,
    standard_contest,
    told,
)
from eagle_viz.engine.cycle import Cycle, with_target
from eagle_viz.engine.drafted import DraftedLandscape, Drafter
from eagle_viz.engine.expansion import HOLDS, Expand, Expanded, expand_all
from eagle_viz.engine.generation import Contest, Generation, calibration_for
from eagle_viz.engine.plain import plain
from eagle_viz.engine.prompts import Prompt
from eagle_viz.engine.reader import Reader
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target


def record(
    target: Target,
    drafter: Drafter,
    prompts: Sequence[Prompt],
    contest: Contest | None = None,
    max_new_tokens: int = 64,
    contexts: int | None = None,
    target_name: str = "SmolLM2-135M-Instruct",
    report: Callable[[Progress], None] = lambda progress: None,
) -> list[Recording]:
    """Record the greedy answers to these prompts, a recording each; the average of each is taken over the others.

    `contexts`: at most so many cycles of each answer, evenly spaced (None: all of them, so that the strip along the text is whole).
    Deterministic on one machine: the same target, drafter and prompts give the same trees.
    """
    contest = contest or standard_contest()
    drafts = [_first_draft(target, drafter, prompt, contest, max_new_tokens, contexts, target_name, report) for prompt in prompts]
    return [_with_average(target, drafter, one, drafts, report) for one in drafts]


def _first_draft(
    target: Target, drafter: Drafter, prompt: Prompt, contest: Contest, limit: int, contexts: int | None, target_name: str, report
) -> Recording:
    """A recording that lacks only what best_static needs, which depends on the other recordings."""
    run = Generation(target, drafter, prompt.encode(target), contest, Settings(limit, probabilities=False))
    cycles = []
    for cycle in run:
        cycles.append(cycle)
        report(Progress(prompt.name, "generate", len(run.tokens), limit))
    expand = partial(expand_all, greedy=drafter.greedy)
    return record_run(run, evenly(cycles, contexts), prompt, expand, HOLDS, target_name, report)


def record_run(
    run: Generation,
    cycles: Sequence[Cycle],
    prompt: Prompt,
    expand: Expand,
    holds: Mapping[str, object] = HOLDS,
    target_name: str = "SmolLM2-135M-Instruct",
    report: Callable[[Progress], None] = lambda progress: None,
) -> Recording:
    """Read the answer of a finished run again and draft below the roots of these cycles of it what `expand` asks for.

    `holds` says in the recording what it then answers for.
    Raises ValueError where there is no cycle.
    """
    target, drafter, contexts = run.target, run.drafter, []
    text = _text(run, tail_of(target, run))
    drafted = contexts_of(target, drafter, text.tokens, [cycle.position for cycle in cycles])
    for cycle, (reader, landscape) in zip(cycles, drafted, strict=True):
        known = expand(landscape, partial(priced, reader, landscape))
        contexts.append(Context(cycle.position, known, _verdicts(cycle), cycle.seconds))
        report(Progress(prompt.name, "record", len(contexts), len(cycles)))
    return _assembled(run, text, contexts, prompt, holds, target_name, drafter.greedy)


def record_as_drafted(
    run: Generation, cycles: Sequence[Cycle], prompt: Prompt, tail: Sequence[int] = (), target_name: str = "SmolLM2-135M-Instruct"
) -> Recording:
    """These cycles of a run, finished or not, with what they drafted themselves: nothing is read or drafted again.

    It answers for the policies of the run's contest and those drafted beside them, at their budgets and in their reading.
    `tail`: the target's tokens after the answer, where they are known. Raises ValueError where there is no cycle.
    """
    contexts = [Context(cycle.position, cycle.landscape.candidates, _verdicts(cycle), cycle.seconds) for cycle in cycles]
    policies = [policy.title for policy, _ in (*run.contest.values(), *run.beside)]
    greedy = calibration_for(run.drafter, run.settings)
    return _assembled(run, _text(run, tail), contexts, prompt, {"policies": policies}, target_name, greedy)


def _text(run: Generation, tail: Sequence[int]) -> Text:
    return Text((*run.prompt, *run.tokens, *tail), len(run.prompt), len(run.tokens))


def _assembled(
    run: Generation,
    text: Text,
    contexts: Sequence[Context],
    prompt: Prompt,
    holds: Mapping[str, object],
    target_name: str,
    greedy: GreedyCalibration | None = None,
) -> Recording:
    dtype = str(run.target.dtype).removeprefix("torch.")
    made = {"dtype": dtype, "threads": torch.get_num_threads(), "torch": torch.__version__}
    made |= {"live": told(run.contest), "holds": dict(holds)}
    return assemble(prompt, text, target_name, run.drafter.name, contexts, run.target.tokenizer, made, greedy)


def _verdicts(cycle: Cycle) -> tuple[LiveVerdict, ...]:
    return tuple(
        LiveVerdict(name, draft.budget, cycle.accepted_path(name), cycle.verdicts[name].bonus)
        for name, draft in cycle.drafts.items()
    )


def tail_of(target: Target, run: Generation) -> list[int]:
    """The target's greedy tokens after the answer; none where it has ended."""
    if run.tokens[-1] in target.end_tokens:
        return []
    return [token for token, _ in plain(target, [*run.prompt, *run.tokens], Settings(max_new_tokens=TAIL))]


def _with_average(target: Target, drafter: Drafter, one: Recording, made: Sequence[Recording], report) -> Recording:
    """Add the others' average confidences, and whatever best_static expands with them."""
    average = average_of_others(one, made)
    if average is None:
        return one
    greedy = None if drafter.greedy is None else average_of_others(one, made, drafter.greedy)
    report(Progress(one.name, "average", 0, 1))
    known, roots = [], [cycle.position for cycle in one.cycles]
    for cycle, (reader, landscape) in zip(one.cycles, contexts_of(target, drafter, one.tokens, roots), strict=True):
        for table in filter(None, (average, greedy)):
            draft_up_to(BestStatic(average=table), landscape, MAX_BUDGET)
        held = {path: row for path, row in cycle.landscape.candidates.items() if len(row) == TOP_K}
        known.append(priced(reader, landscape, held))
    return averaged(one, average, known, target.tokenizer, greedy)


# -- drafting a known text again ---------------------------------------------------------------------------------------


def contexts_of(
    target: Target, drafter: Drafter, tokens: Sequence[int], roots: Sequence[int]
) -> Iterator[tuple[Reader, DraftedLandscape]]:
    """Read a known text again: at each root (rising indices in `tokens`) the open landscape below it; none for no root."""
    if not roots:
        return
    reader = Reader(target, drafter, tokens[: roots[0]], len(tokens) - roots[0], MAX_BUDGET)
    reader.start(tokens[roots[0]])
    for before, root in zip([roots[0], *roots], roots, strict=False):
        reader.extend(tokens[before + 1 : root + 1])
        landscape = reader.landscape()
        yield reader, landscape
        landscape.close()


def priced(reader: Reader, landscape: DraftedLandscape, known: Expanded) -> dict[Path, Candidates]:
    """Expanded nodes that are not `known` yet, their candidates with the target's probabilities: one pass, then forgotten."""
    fresh = {path: found for path, found in landscape.expanded.items() if path not in known}
    unpriced = [path for path, found in fresh.items() if found.target_probabilities is None]
    if unpriced:
        start = reader.cache.length
        tree = tree_of(unpriced, landscape.expanded, landscape.root_token)
        fresh |= with_target(fresh, tree, reader.verify(tree).logits)
        reader.cache.keep(start, [])
    return fresh


def tree_of(paths: Sequence[Path], expanded: Expanded, root_token: int) -> DraftTree:
    """The tree of these expanded paths and their ancestors."""
    wanted = {path[:depth] for path in paths for depth in range(1, len(path) + 1)}
    nodes = []
    for path in wanted:
        siblings, rank = expanded[path[:-1]], path[-1]
        nodes.append(Node(path, int(siblings.tokens[rank]), float(siblings.confidences[rank])))
    return DraftTree.from_nodes(nodes, root_token)
