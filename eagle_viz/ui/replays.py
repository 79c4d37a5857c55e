"""Policies replayed on every pass of recordings, each once and cached; nothing handed out here may be changed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import streamlit as st

from ..core import ladder as rungs
from ..core import reliability
from ..core.landscape import NotRecordedError
from ..core.policies import Draft
from ..core.readout import cumulative, draft_up_to
from ..core.recording import RecordedCycle
from ..core.replay import Pass, kept_at, replay, written_curve
from ..core.sureness import Sureness, sureness
from .library import read_recording
from .settings import RECORDED_CHAIN, USUAL_BUDGET
from .world import PolicyKey


@st.cache_resource(max_entries=64, show_spinner=False)
def _drafts(name: str, key: PolicyKey, budget: int) -> list[Draft]:
    return [draft for _, draft in _drafted(name, key, budget)]


@st.cache_resource(max_entries=256, show_spinner=False)
def passes(name: str, key: PolicyKey, budget: int) -> list[Pass]:
    """What a policy would have got in every cycle of a recording."""
    ahead = max(budget, _recorded(key)) if key.policy().nested else budget
    drafts = zip(read_recording(name).cycles, _drafts(name, key, ahead), strict=True)
    return [replay(cycle, kept_at(draft, budget)) for cycle, draft in drafts]


@st.cache_resource(max_entries=64, show_spinner=False)
def observations(names: tuple[str, ...], key: PolicyKey, budget: int) -> reliability.Observations:
    """What the cycles of these recordings say about confidence, for one policy's trees."""
    parts = []
    for name in names:
        for cycle, draft in zip(read_recording(name).cycles, _drafts(name, key, budget), strict=True):
            parts.append(reliability.observe(cycle.landscape, draft.tree, cycle.verdict(draft.tree)))
    return reliability.Observations.join(parts)


@st.cache_resource(max_entries=64, show_spinner=False)
def ladder(names: tuple[str, ...], budget: int, top_k: int, max_depth: int, kind: str) -> tuple[rungs.Rung, ...]:
    """The ladder of policies with its oracle, or the paper's ablation, over all contexts of these recordings."""
    cycles = [cycle for name in names for cycle in read_recording(name).cycles]
    if kind == "ablation":
        return rungs.score_policies(cycles, rungs.ablation_policies(top_k=top_k), budget)
    return rungs.score_policies(cycles, rungs.ladder_policies(max_depth, top_k), budget, oracle=max_depth)


class AtBudgets(NamedTuple):
    """Means over passes at budgets 0, 1, ...: ``tokens`` written beyond the first, draft ``passes``, and ``nodes`` drafted, which
    are fewer than the budget where a policy ends its tree by itself.
    """

    tokens: np.ndarray
    passes: np.ndarray
    nodes: np.ndarray


@st.cache_resource(max_entries=64, show_spinner=False)
def tokens_at_every_budget(names: tuple[str, ...], key: PolicyKey, expected: bool) -> AtBudgets:
    """What a policy gets on every recorded pass at budgets 0, 1, ..., ``USUAL_BUDGET``; ``expected`` in place of written tokens.

    Of a policy that chooses anew at each budget: at ``LOOKED_AT`` only, NaN at the others and where a recording holds too little.
    """
    if not key.policy().nested:
        return _chosen_anew(names, key, expected)
    most = USUAL_BUDGET
    found = []
    for name in names:
        for cycle, draft in zip(read_recording(name).cycles, _drafts(name, key, _recorded(key)), strict=True):
            curve = cumulative(draft) if expected else written_curve(cycle, draft) - 1
            made = draft.policy.passes_at(draft)
            passes = np.pad(made, (0, most + 1 - len(made)), constant_values=draft.passes)  # looking for more costs them too
            found.append((_as_far_as(curve, most), passes, np.minimum(np.arange(most + 1), draft.budget)))
    return AtBudgets(*np.mean(found, axis=0))


LOOKED_AT = (*range(1, 9), 10, 12, 16, 20, 25, 30, 40, 50, 60)
"""Budgets at which a policy that chooses anew at each is replayed on every recorded pass."""


def _chosen_anew(names: tuple[str, ...], key: PolicyKey, expected: bool) -> AtBudgets:
    found = np.full((3, USUAL_BUDGET + 1), np.nan)
    found[:, 0] = 0
    for budget in LOOKED_AT:
        try:
            drafts = [(cycle, draft) for name in names for cycle, draft in _drafted(name, key, budget)]
        except NotRecordedError:
            break
        written = [draft.tree.expected_accepted if expected else replay(cycle, draft.tree).written - 1 for cycle, draft in drafts]
        found[0, budget] = np.mean(written)
        found[1:, budget] = np.mean([(draft.passes, draft.budget) for _, draft in drafts], axis=0)
    return AtBudgets(*found)


def _drafted(name: str, key: PolicyKey, budget: int) -> list[tuple[RecordedCycle, Draft]]:
    return [(cycle, draft_up_to(key.policy(), cycle.landscape, budget)[0]) for cycle in read_recording(name).cycles]


@st.cache_resource(max_entries=64, show_spinner=False)
def early_passes(names: tuple[str, ...], key: PolicyKey) -> np.ndarray:
    """Mean draft passes at budgets 0, 1, ... of this policy where it stops as soon as no deeper candidate can change its tree."""
    early = key.policy().stopping_early()
    drafts = [draft for name in names for draft in _drafts(name, key, _recorded(key))]
    return np.mean([_as_far_as(early.passes_at(draft), USUAL_BUDGET) for draft in drafts], axis=0)


@st.cache_resource(max_entries=64, show_spinner=False)
def surenesses(names: tuple[str, ...], sides: tuple[PolicyKey, PolicyKey], budget: int) -> list[Sureness]:
    """How sure the drafter of each of these texts is, and what the second side gains over the first there."""
    found = []
    for name in names:
        text = read_recording(name)
        landscapes = [cycle.landscape for cycle in text.cycles]
        found.append(sureness(text.title, landscapes, *(passes(name, side, budget) for side in sides)))
    return found


def remarks(name: str, sides: tuple[PolicyKey, ...]) -> list[str]:
    """What must be said of these policies' trees up to the largest recorded budget (see ``Policy.remark``), read off one pass.

    Trees that no budget holds in another are remarked on where they are drawn.
    """
    drafts = [_drafts(name, side, _recorded(side))[0] for side in sides if side.policy().nested]
    return [remark for draft in drafts if (remark := draft.policy.remark(draft))]


def _recorded(key: PolicyKey) -> int:
    """The largest budget that recordings hold of a nested policy."""
    return RECORDED_CHAIN if key.policy().single_path else USUAL_BUDGET


def _as_far_as(counts: np.ndarray, most: int) -> np.ndarray:
    """[most + 1]: what holds at the last budget holds at larger ones."""
    return np.pad(counts, (0, most + 1 - len(counts)), mode="edge")
