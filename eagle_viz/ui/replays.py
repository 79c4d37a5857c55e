"""Policies replayed on every pass of recordings, each once and cached; nothing handed out here may be changed."""

from __future__ import annotations

import numpy as np
import streamlit as st

from ..core import ladder as rungs
from ..core import reliability
from ..core.policies import Draft
from ..core.readout import cumulative, draft_up_to
from ..core.replay import Pass, kept_at, replay, written_curve
from ..core.sureness import Sureness, sureness
from .library import read_recording
from .settings import RECORDED_CHAIN, USUAL_BUDGET
from .world import PolicyKey


@st.cache_resource(max_entries=64, show_spinner=False)
def _drafts(name: str, key: PolicyKey, budget: int) -> list[Draft]:
    return [draft_up_to(key.policy(), cycle.landscape, budget)[0] for cycle in read_recording(name).cycles]


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


@st.cache_resource(max_entries=64, show_spinner=False)
def tokens_at_every_budget(names: tuple[str, ...], key: PolicyKey, expected: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean tokens written (or ``expected``) beyond the first of a pass, and draft passes at budgets 0, 1, ...; nested only."""
    if not key.policy().nested:
        raise ValueError(f"policy: {key.title} given, allowed is one whose trees grow with the budget")
    most = USUAL_BUDGET
    curves, passes = [], []
    for name in names:
        for cycle, draft in zip(read_recording(name).cycles, _drafts(name, key, _recorded(key)), strict=True):
            curve = cumulative(draft) if expected else written_curve(cycle, draft) - 1
            curves.append(_as_far_as(curve, most))
            made = draft.policy.passes_at(draft)
            passes.append(np.pad(made, (0, most + 1 - len(made)), constant_values=draft.passes))  # looking for more costs them too
    return np.mean(curves, axis=0), np.mean(passes, axis=0)


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
    """What must be said of these policies' trees up to the largest recorded budget (see ``Policy.remark``), read off one pass."""
    drafts = [_drafts(name, side, _recorded(side))[0] for side in sides]
    return [remark for draft in drafts if (remark := draft.policy.remark(draft))]


def _recorded(key: PolicyKey) -> int:
    """The largest budget that recordings hold of a nested policy."""
    return RECORDED_CHAIN if key.policy().single_path else USUAL_BUDGET


def _as_far_as(counts: np.ndarray, most: int) -> np.ndarray:
    """[most + 1]: what holds at the last budget holds at larger ones."""
    return np.pad(counts, (0, most + 1 - len(counts)), mode="edge")
