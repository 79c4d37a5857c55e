"""The trace: everything the stage reveals, decided here. Plain JSON, so that a page, an offline player and a test read the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

from ..core.landscape import Landscape
from ..core.policies import Draft, Policy
from ..core.readout import (
    budget_curve,
    cumulative,
    draft_up_to,
    guess_standing,
    missed_sentences,
    shortfall_sentence,
    step_sentence,
)
from ..core.tree import NO_TOKEN, Path
from .nodes import Nodes, Run, Table, quoted
from .verdict import ROLLS, recorded_verdict, rolled_verdicts

VERSION = 1
TIERS = (32, 64, 128, 256, 512)
"""Budgets up to which one layout serves; within a tier no node moves."""
SIDES = ("static", "dynamic")
EVERY_BUDGET_UP_TO = 128
"""A policy that is not nested is traced at every budget up to here, above only at the budget asked for."""


def tier_of(budget: int) -> int:
    """The smallest tier that serves a budget; raises ``ValueError`` above the largest.

    >>> [tier_of(budget) for budget in (0, 32, 33, 512)]
    [32, 32, 64, 512]
    """
    for tier in TIERS:
        if 0 <= budget <= tier:
            return tier
    raise ValueError(f"budget: {budget} given, the stage draws 0 to {TIERS[-1]}")


def build_trace(
    landscape: Landscape,
    static: Policy,
    dynamic: Policy,
    *,
    tier: int = 128,
    budget: int = 25,
    label: str = "",
    root_text: str | None = None,
    continuation: Sequence[int] | None = None,
    roll_seed: int = 0,
    full: bool = True,
    curve_to: int | None = None,
    prompt: str | None = None,
) -> Table:
    """Trace both policies for every budget from 0 to ``tier``; a JSON-able table.

    ``budget`` matters only to policies that are not nested, above 128. ``continuation``: the target's own tokens after the root,
    where they are known; without them the verify phase shows seeded rolls. ``full``: carry the candidates scored but not
    kept, the expand phases and the rolls too (not in a picture that is redrawn while a slider moves). ``curve_to``: the largest
    budget of the curves of nested policies, the tier by default. ``prompt``: the text that led to the root, for exports. Raises
    what policies raise, but a pool smaller than the tier becomes a side's ``notice``.

    Law: the expected accepted tokens shown at budget b are those of ``compare(landscape, b, ...)``, to the last bit.
    """
    if tier not in TIERS:
        raise ValueError(f"tier: {tier!r} given, allowed is one of {', '.join(map(str, TIERS))}")
    most = max(tier, curve_to or tier)
    runs = {side: _run(policy, landscape, tier, budget, most) for side, policy in zip(SIDES, (static, dynamic), strict=True)}
    nodes = Nodes(landscape, runs, tier, full)
    trace: Table = {
        "version": VERSION,
        "label": label,
        "prompt": prompt,
        "tier": tier,
        "tiers": [size for size in TIERS if size <= tier],
        "curve_to": most,
        "real": nodes.real,
        "nodes": nodes.table(root_text),
        "layouts": {str(size): nodes.layout(runs, size, full) for size in TIERS if size <= tier},
        "sides": {side: _side(run, nodes, name) for (side, run), name in zip(runs.items(), _names(static, dynamic), strict=True)},
        "phases": _phases(runs["dynamic"], nodes) if full else [],
        "verify": _verify(runs, nodes, continuation, roll_seed, ROLLS if full else 0),
    }
    return trace | {"id": hashlib.sha256(json.dumps(trace, sort_keys=True).encode()).hexdigest()[:16]}


def _names(static: Policy, dynamic: Policy) -> tuple[str, str]:
    """What the two sides are called: their policies' titles, with the colour where both have the same."""
    if static.title == dynamic.title:
        return f"{static.title} (gray)", f"{dynamic.title} (blue)"
    return static.title, dynamic.title


def _run(policy: Policy, landscape: Landscape, tier: int, budget: int, curve_to: int) -> Run:
    draft, error = draft_up_to(policy, landscape, tier)
    notice = None if error is None else shortfall_sentence(policy, error, "{budget}")
    if policy.nested:
        curve = cumulative(draft) if curve_to == tier else budget_curve(policy, landscape, curve_to)
        return Run(policy, {"all": draft}, notice, curve.tolist())
    sizes = range(draft.budget) if tier <= EVERY_BUDGET_UP_TO else {min(budget, draft.budget)} - {draft.budget}
    drafts = {str(size): policy(landscape, size) for size in sizes} | {str(draft.budget): draft}
    traced = [drafts.get(str(size)) for size in range(draft.budget + 1)]
    return Run(policy, drafts, notice, [None if draft is None else draft.tree.expected_accepted for draft in traced])


def _side(run: Run, nodes: Nodes, name: str) -> Table:
    return {
        "policy": run.policy.name,
        "name": name,
        "fixed": run.policy.fixed,
        "nested": run.policy.nested,
        "priced": _keeps_largest(run),
        "available": run.largest.budget,
        "keeping": "Rerank" if run.policy.expands_first else "Keep",
        "notice": run.notice,
        "idle": _idle(run),
        "curve": run.curve,
        "reveals": {size: _reveal(draft, nodes) for size, draft in run.drafts.items()},
    }


def _keeps_largest(run: Run) -> bool:
    """Whether every budget is a price: the tree holds all nodes scored that are worth the smallest value kept, and no other."""
    draft = run.largest
    if not run.policy.nested or run.policy.fixed:
        return False
    kept = [draft.tree.values[draft.tree.index[path]] for path in draft.order]
    left = [value for path, value in zip(draft.pool.paths, draft.pool.values, strict=True) if path not in draft.tree.index]
    return bool(np.all(np.diff([1.0, *kept, *sorted(left, reverse=True)]) <= 0))


def _idle(run: Run) -> str:
    """What the panel says while the other side expands its layers."""
    if run.policy.fixed:
        return f"{run.policy.title} has nothing to decide: its tree is always the same."
    return f"{run.policy.title} waits: its nodes appear when the other tree begins to keep."


def _reveal(draft: Draft, nodes: Nodes) -> Table:
    """Row s of ``expected``, ``shown``, ``least`` and ``missed``: with s nodes kept; ``why[s]`` is the sentence of step s + 1.

    ``passes[b]``: draft passes at budget b, or one number where the policy chooses anew at each budget.
    """
    expected = cumulative(draft).tolist()
    values = [draft.tree.values[draft.tree.index[path]] for path in draft.order]
    return {
        "order": nodes.rows(draft.order),
        "expected": expected,
        "shown": [f"{value:.2f}" for value in expected],
        "least": np.minimum.accumulate([1.0, *values]).tolist(),
        "why": [step_sentence(draft, step, nodes.label) for step in range(1, draft.budget + 1)],
        "missed": missed_sentences(draft, nodes.label),
        "passes": draft.policy.passes_at(draft).tolist() if draft.policy.nested else [draft.passes],
    }


def _phases(run: Run, nodes: Nodes) -> list[Table]:
    """The expand layers of a policy that expands before it keeps: who was expanded, what that scored, who goes on."""
    if not run.policy.expands_first:
        return []
    draft = run.largest
    scored = [_children(draft, set(frontier)) for frontier in draft.frontiers]
    following = [*draft.frontiers[1:], ()]
    return [
        {
            "frontier": nodes.rows(frontier),
            "scored": nodes.rows(layer),
            "chosen": nodes.rows(chosen),
            "sentence": _layer_sentence(level, len(draft.frontiers), len(frontier), len(layer), len(chosen)),
        }
        for level, (frontier, layer, chosen) in enumerate(zip(draft.frontiers, scored, following, strict=True), start=1)
    ]


def _children(draft: Draft, parents: set[Path]) -> list[Path]:
    return [path for path in draft.pool.paths if path and path[:-1] in parents]


def _layer_sentence(level: int, levels: int, width: int, scored: int, chosen: int) -> str:
    who = "the root" if level == 1 else f"{width} frontier node{'s' * (width > 1)}"
    what = f"Draft pass {level} of {levels}: {who} expanded, {scored} candidates scored in one batch"
    if level == levels:
        return f"{what}. Drafting ends; now the whole pool is reranked."
    return f"{what}; the best {chosen} by path product go on."


def _verify(runs: dict[str, Run], nodes: Nodes, continuation: Sequence[int] | None, seed: int, rolls: int) -> Table:
    kept = set().union(*(run.kept(TIERS[-1]) for run in runs.values()))
    drafted = [(path, *nodes.facts[path][:2]) for path in nodes.paths if path in kept]
    if continuation is None:
        return rolled_verdicts(drafted, nodes.index, seed, rolls)
    land, worth = nodes.landscape, lambda path: nodes.facts[path][2]
    return recorded_verdict(
        drafted,
        nodes.index,
        continuation,
        lambda token: _spoken(land, token),
        lambda path, token: guess_standing(land, path, worth(path), token),
    )


def _spoken(landscape: Landscape, token: int) -> str:
    text = landscape.token_text(token) if token != NO_TOKEN else None
    return f"token {token}" if text is None else quoted(text)
