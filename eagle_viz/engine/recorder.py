"""Making recordings: generate, then draft every context of the answer again, wide enough for all that the page may ask."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from eagle_viz.core.ladder import best_first_gaps
from eagle_viz.core.landscape import Candidates, Landscape, RecordedLandscape
from eagle_viz.core.policies import BestStatic, Chain, Eagle1, Eagle2, Policy
from eagle_viz.core.policies.base import Scout
from eagle_viz.core.policies.layers import Layers
from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.recording import (
    MAX_BUDGET,
    MAX_DEPTH,
    TOP_K,
    LiveVerdict,
    RecordedCycle,
    Recording,
    average_confidences,
)
from eagle_viz.core.tree import ROOT, DraftTree, Node, Path
from eagle_viz.engine.cycle import Cycle, with_target
from eagle_viz.engine.drafted import DraftedLandscape, Drafter
from eagle_viz.engine.generation import Contest, Generation
from eagle_viz.engine.plain import plain
from eagle_viz.engine.prompts import Prompt
from eagle_viz.engine.reader import Reader
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target
from eagle_viz.engine.texts import TokenTexts, pieces

Expanded = Mapping[Path, Candidates]
"""What is known below one root: the candidates of every expanded path."""

Expand = Callable[[Reader, DraftedLandscape], dict[Path, Candidates]]
"""What to draft below an open root, with the target's probabilities beside the confidences."""

HOLDS = {"budget": MAX_BUDGET, "top_k": TOP_K, "max_depth": MAX_DEPTH}
"""What a whole recording answers for."""

TAIL = 16
"""Tokens read beyond the answer, so that a deep tree near its end still meets the target's own continuation."""
CHAIN_DEPTH = 64
"""Levels that the chain is recorded to; beyond, its value is nothing and its cost is not."""
ORACLE_BUDGET = 64
"""Budget up to which best-first by the target's own probabilities (a ladder's last rung) is recorded."""
BEAMS = (
    *(Eagle2(top_k=width, max_depth=MAX_DEPTH) for width in range(1, TOP_K + 1)),
    Eagle2(top_k=TOP_K, max_depth=MAX_DEPTH, expand_by="confidence"),
)
"""Every EAGLE-2 that a page may run on a recording, as deep as it gets; the last one for the ablation."""


def standard_contest(budget: int = 25) -> Contest:
    """The comparison that recordings show: EAGLE-2 leads, EAGLE-1's shape is verified on the same contexts, at one budget."""
    return {"eagle2": (Eagle2(max_depth=MAX_DEPTH), budget), "eagle1": (Eagle1(), budget)}


@dataclass(frozen=True)
class Progress:
    """What a recorder is doing: `done` of `total` steps of `prompt`, for people to read."""

    prompt: str
    step: str
    done: int
    total: int


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
    return [_with_average(target, drafter, one, [other for other in drafts if other is not one], report) for one in drafts]


def _first_draft(
    target: Target, drafter: Drafter, prompt: Prompt, contest: Contest, limit: int, contexts: int | None, target_name: str, report
) -> Recording:
    """A recording that lacks only what best_static needs, which depends on the other recordings."""
    run = Generation(target, drafter, prompt.encode(target), contest, Settings(limit, probabilities=False))
    cycles = []
    for cycle in run:
        cycles.append(cycle)
        report(Progress(prompt.name, "generate", len(run.tokens), limit))
    return record_run(run, evenly(cycles, contexts), prompt, expand_all, HOLDS, target_name, report)


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
    target, drafter = run.target, run.drafter
    tokens, end = [*run.prompt, *run.tokens, *_tail(target, run)], len(run.prompt) + len(run.tokens)
    if not cycles:
        raise ValueError(f"prompt: the answer to {prompt.name!r} is over before its first cycle, so there is nothing to record")
    roots = [cycle.position for cycle in cycles]
    known = []
    for context in contexts_of(target, drafter, tokens, roots):
        known.append(expand(*context))
        report(Progress(prompt.name, "record", len(known), len(roots)))
    texts = TokenTexts(target.tokenizer).of([*tokens[len(run.prompt) :], *_tokens(known)])
    landscapes = [RecordedLandscape(found, tokens[root], texts) for found, root in zip(known, roots, strict=True)]
    return Recording(
        name=f"{drafter.name}-{prompt.name}",
        title=prompt.title,
        kind=prompt.kind,
        prompt=prompt.text,
        target=target_name,
        drafter=drafter.name,
        tokens=tuple(tokens),
        prompt_length=len(run.prompt),
        answer_length=len(run.tokens),
        pieces=pieces(target.tokenizer, run.tokens),
        texts=texts,
        cycles=tuple(_recorded(cycle, land, tokens, end) for cycle, land in zip(cycles, landscapes, strict=True)),
        made=_made(target, run.contest, holds),
    )


def evenly(cycles: Sequence[Cycle], count: int | None) -> list[Cycle]:
    """At most `count` of these cycles, evenly spaced, the first and the last among them; all of them for None."""
    if count is None or count >= len(cycles):
        return list(cycles)
    return [cycles[round(i * (len(cycles) - 1) / max(1, count - 1))] for i in range(count)]


def _recorded(cycle: Cycle, landscape: RecordedLandscape, tokens: Sequence[int], end: int) -> RecordedCycle:
    """One cycle as it is kept; `end` is the index behind the answer."""
    verdicts = tuple(
        LiveVerdict(name, draft.budget, cycle.accepted_path(name), cycle.verdicts[name].bonus)
        for name, draft in cycle.drafts.items()
    )
    following = tuple(tokens[cycle.position + 1 :])
    return RecordedCycle(cycle.position, landscape, following, verdicts, dict(cycle.seconds), room=end - 1 - cycle.position)


def _made(target: Target, contest: Contest, holds: Mapping[str, object]) -> dict:
    policies = {name: {"policy": policy.name, "budget": budget, **vars(policy)} for name, (policy, budget) in contest.items()}
    machine = {"dtype": str(target.dtype).removeprefix("torch."), "threads": torch.get_num_threads(), "torch": torch.__version__}
    return {**machine, "live": policies, "holds": dict(holds)}


def _tail(target: Target, run: Generation) -> list[int]:
    """The target's greedy tokens after the answer; none where it has ended."""
    if run.tokens[-1] in target.end_tokens:
        return []
    return [token for token, _ in plain(target, [*run.prompt, *run.tokens], Settings(max_new_tokens=TAIL))]


def _with_average(target: Target, drafter: Drafter, one: Recording, others: Sequence[Recording], report) -> Recording:
    """Add the others' average confidences, and whatever best_static expands with them."""
    average = average_confidences(cycle.landscape.candidates for other in others for cycle in other.cycles)
    if average is None:
        return one
    report(Progress(one.name, "average", 0, 1))
    roots = [cycle.position for cycle in one.cycles]
    known = []
    for cycle, (reader, landscape) in zip(one.cycles, contexts_of(target, drafter, one.tokens, roots), strict=True):
        draft_up_to(BestStatic(average=average), landscape, MAX_BUDGET)
        held = {path: row for path, row in cycle.landscape.candidates.items() if len(row) == TOP_K}
        known.append({**cycle.landscape.candidates, **priced(reader, landscape, held)})
    texts = {**one.texts, **TokenTexts(target.tokenizer).of(_tokens(known))}
    cycles = tuple(
        replace(cycle, landscape=RecordedLandscape(found, cycle.landscape.root_token, texts, average))
        for cycle, found in zip(one.cycles, known, strict=True)
    )
    return replace(one, cycles=cycles, texts=texts, average=average)


def _tokens(known: Sequence[Expanded]) -> Iterator[int]:
    """Every candidate token."""
    return (int(token) for expanded in known for row in expanded.values() for token in row.tokens)


# -- drafting a known text again ---------------------------------------------------------------------------------------


def contexts_of(
    target: Target, drafter: Drafter, tokens: Sequence[int], roots: Sequence[int]
) -> Iterator[tuple[Reader, DraftedLandscape]]:
    """Read a known text again: at each root (rising indices in `tokens`) the open landscape below it."""
    reader = Reader(target, drafter, tokens[: roots[0]], len(tokens) - roots[0], MAX_BUDGET)
    reader.start(tokens[roots[0]])
    for before, root in zip([roots[0], *roots], roots, strict=False):
        reader.extend(tokens[before + 1 : root + 1])
        landscape = reader.landscape()
        yield reader, landscape
        landscape.close()


def expand_all(reader: Reader, landscape: DraftedLandscape) -> dict[Path, Candidates]:
    """What every shipped policy expands, best-first also by the target's price: everything with the target's probabilities.

    Below the deepest level of the others only the chain goes on, and there only its first candidate is kept.
    """
    expand_beams(landscape, BEAMS)
    expand_levels(landscape, MAX_BUDGET)
    draft_up_to(Eagle1(), landscape, MAX_BUDGET)
    while gaps := best_first_gaps(landscape.expanded, MAX_BUDGET, MAX_DEPTH):
        landscape.expand(gaps)
    wanted = set(landscape.expanded)
    draft_up_to(Chain(), landscape, CHAIN_DEPTH)
    known = close_by_target(reader, landscape, priced(reader, landscape, {}))
    return {path: row if path in wanted or len(path) < MAX_DEPTH else first_only(row) for path, row in known.items()}


def expand_for(policies: Sequence[Policy]) -> Expand:
    """What these policies expand at budgets up to the largest, and no more: quick enough to wait for."""

    def expand(reader: Reader, landscape: DraftedLandscape) -> dict[Path, Candidates]:
        for policy in policies:
            draft_up_to(policy, landscape, MAX_BUDGET)
        return priced(reader, landscape, {})

    return expand


def first_only(row: Candidates) -> Candidates:
    """The most confident candidate alone."""
    target = row.target_probabilities
    return Candidates(row.tokens[:1], row.confidences[:1], None if target is None else target[:1])


def close_by_target(reader: Reader, landscape: DraftedLandscape, known: dict[Path, Candidates]) -> dict[Path, Candidates]:
    """Expand until best-first by the target's own probabilities finds all it asks for, up to the ladder's budget."""
    while gaps := best_first_gaps(known, ORACLE_BUDGET, MAX_DEPTH, by_target=True):
        landscape.expand(gaps)
        known = known | priced(reader, landscape, known)
    return known


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


def expand_beams(landscape: Landscape, policies: Sequence[Eagle2]) -> None:
    """Run the expand phases of many EAGLE-2s side by side: one pass a layer serves them all."""
    layers = [Layers(landscape, policy.top_k) for policy in policies]
    beams = [np.zeros(1, dtype=np.int64) for _ in policies]
    for level in range(max(policy.max_depth for policy in policies)):
        landscape.expand(sorted({path for made, beam in zip(layers, beams, strict=True) for path in made.paths(beam)}))
        for place, policy in enumerate(policies):
            if len(beams[place]):
                layers[place].expand(beams[place])
                deeper = level + 1 < policy.max_depth
                beams[place] = policy.choose(layers[place]) if deeper else beams[place][:0]


def expand_levels(landscape: Landscape, budget: int) -> None:
    """Expand whole levels until `budget` nodes are scored, as `max_sweep` does."""
    scout, frontier = Scout(landscape), [ROOT]
    while len(scout.nodes) < budget:
        frontier = scout.expand(frontier)
