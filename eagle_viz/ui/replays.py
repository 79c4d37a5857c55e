"""Policies replayed on every cycle of recordings, each once and cached; nothing handed out here may be changed."""

from __future__ import annotations

import numpy as np
import streamlit as st

from ..core import calibration
from ..core.policies import Draft
from ..core.readout import cumulative, draft_up_to
from ..core.replay import Pass, accepted_curve, kept_at, passes_needed, replay
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
def observations(names: tuple[str, ...], key: PolicyKey, budget: int) -> calibration.Observations:
    """What the cycles of these recordings say about confidence, for one policy's trees."""
    parts = []
    for name in names:
        for cycle, draft in zip(read_recording(name).cycles, _drafts(name, key, budget), strict=True):
            parts.append(calibration.observe(cycle.landscape, draft.tree, cycle.verdict(draft.tree)))
    return calibration.Observations.join(parts)


@st.cache_resource(max_entries=64, show_spinner=False)
def ladder(names: tuple[str, ...], budget: int, top_k: int, max_depth: int, kind: str) -> tuple[calibration.Rung, ...]:
    """The ladder of policies with its oracle, or the paper's ablation, over all contexts of these recordings."""
    cycles = [cycle for name in names for cycle in read_recording(name).cycles]
    if kind == "ablation":
        return calibration.climb(cycles, calibration.ablation_policies(top_k=top_k), budget)
    return calibration.climb(cycles, calibration.ladder_policies(max_depth, top_k), budget, oracle=max_depth)


def forget_recordings() -> None:
    """A recording was replaced by a wider one, on which ladders have more rungs."""
    ladder.clear()


@st.cache_resource(max_entries=64, show_spinner=False)
def tokens_at_every_budget(names: tuple[str, ...], key: PolicyKey, expected: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean accepted (or ``expected``) tokens, bonus not counted, and draft passes at budgets 0, 1, ...; nested policies only."""
    if not key.policy().nested:
        raise ValueError(f"policy: {key.title} given, allowed is one whose trees grow with the budget")
    most = USUAL_BUDGET
    curves, passes = [], []
    for name in names:
        for cycle, draft in zip(read_recording(name).cycles, _drafts(name, key, _recorded(key)), strict=True):
            curve = cumulative(draft) if expected else accepted_curve(cycle, draft)
            curves.append(np.pad(curve, (0, most + 1 - len(curve)), mode="edge"))
            passes.append(_passes_at_every_budget(draft, most))
    return np.mean(curves, axis=0), np.mean(passes, axis=0)


@st.cache_resource(max_entries=64, show_spinner=False)
def early_passes(names: tuple[str, ...], key: PolicyKey) -> np.ndarray:
    """Mean draft passes at budgets 0, 1, ... of an EAGLE-2 that stops as soon as no deeper candidate can change its tree."""
    drafts = [draft for name in names for draft in _drafts(name, key, _recorded(key))]
    return np.mean([np.pad(found, (0, USUAL_BUDGET + 1 - len(found)), mode="edge") for found in map(passes_needed, drafts)], axis=0)


def _recorded(key: PolicyKey) -> int:
    """The largest budget that recordings hold of a nested policy."""
    return RECORDED_CHAIN if key.name == "chain" else USUAL_BUDGET


def _passes_at_every_budget(draft: Draft, most: int) -> np.ndarray:
    """EAGLE-2 always makes all its passes; a fixed shape one a level it reaches, best-first one a node it expands."""
    if draft.policy == "eagle2":
        return np.r_[0, np.full(most, draft.passes)]
    depths = np.maximum.accumulate([0, *(len(path) for path in draft.order)])
    counts = np.arange(len(depths)) if draft.policy == "best_first" else depths
    return np.pad(counts, (0, most + 1 - len(counts)), mode="edge")
