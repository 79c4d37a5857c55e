"""From settings to landscapes and drafts, each made once and cached; nothing handed out here may be changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from ..core import calibration, recording
from ..core.landscape import Landscape, RankLandscape, SyntheticLandscape
from ..core.policies import POLICIES, Draft, Policy
from ..core.population import Population, population
from ..core.readout import budget_curve, draft_up_to
from ..core.replay import Pass, accepted_curve, kept_at, replay
from ..core.uploaded import Uploaded
from ..stage.trace import build_trace, tier_of
from .settings import PROPERTIES, Settings, scene

SHARPNESSES = (0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)


_FILE_SIDES = ("file-static", "file-dynamic")
_UPLOADED = "uploaded_trees"


def keep_upload(found: Uploaded) -> None:
    """Keep the trees of a file for this session."""
    st.session_state[_UPLOADED] = found


def uploaded() -> Uploaded:
    """The trees of the file that was loaded; raises ``ValueError`` where there is none (a link does not carry the file)."""
    found = st.session_state.get(_UPLOADED)
    if found is None:
        raise ValueError(
            "source: file given, but a link does not carry the file: load it again under Take it with you, or choose a source"
        )
    return found


@dataclass(frozen=True)
class World:
    """The settings that decide a landscape, and no others: a cache key."""

    source: str
    seed: int = 0
    sharpness: float = 0.0
    branching: int = 0
    coverage: float = 0.0
    levels: str = ""
    recording: str = ""
    position: int = 0

    @classmethod
    def of(cls, settings: Settings) -> World:
        """Only what this source looks at, so that other settings do not throw away what is cached."""
        settings = scene(settings)
        if settings.source == "file":
            return cls("file", recording=uploaded().digest)
        if settings.source == "levels":
            return cls("levels", levels=settings.levels)
        if settings.source == "recording":
            return cls("recording", recording=settings.recording, position=settings.position)
        return cls("synthetic", settings.seed, settings.sharpness, settings.branching, settings.coverage)

    @property
    def label(self) -> str:
        """A short name for exports and descriptions."""
        if self.source == "file":
            return "trees from a file"
        if self.source == "levels":
            return f"levels {self.levels}"
        if self.source == "recording":
            return f"{self.recording}, position {self.position}"
        return f"seed {self.seed}, sharpness {self.sharpness:g}, {self.branching} candidates a node"


@dataclass(frozen=True)
class PolicyKey:
    """A policy's name with the two parameters the page offers: a cache key."""

    name: str
    top_k: int
    max_depth: int

    def policy(self) -> Policy:
        """The policy; parameters that it does not have are left out."""
        if self.name in _FILE_SIDES:
            return getattr(uploaded(), self.name.removeprefix("file-"))
        if self.name == "eagle2":
            return POLICIES["eagle2"](top_k=self.top_k, max_depth=self.max_depth)
        return POLICIES["best_first"](max_depth=self.max_depth) if self.name == "best_first" else POLICIES[self.name]()

    @property
    def title(self) -> str:
        """The policy's name for people."""
        return self.policy().title


def sides(settings: Settings) -> tuple[PolicyKey, PolicyKey]:
    """The static and the dynamic policy of these settings; trees from a file are kept as the file says."""
    if scene(settings).source == "file":
        return tuple(PolicyKey(name, settings.top_k, settings.max_depth) for name in _FILE_SIDES)
    return (
        PolicyKey(settings.static, settings.top_k, settings.max_depth),
        PolicyKey(settings.dynamic, settings.top_k, settings.max_depth),
    )


def most_budget(settings: Settings) -> int:
    """The largest budget worth computing ahead: all of them, or only a tier where a policy has to choose anew at each budget."""
    nested = all(key.policy().nested for key in sides(settings))
    return int(PROPERTIES["budget"].high) if nested else tier_of(settings.budget)


def parse_levels(text: str) -> RankLandscape:
    """Confidences by rank, levels separated by ``/``, the last serving all deeper levels; raises ``ValueError`` with one sentence.

    >>> parse_levels("0.9 0.05 / 0.8, 0.1").confidences
    ((0.9, 0.05), (0.8, 0.1))
    """
    try:
        rows = [[float(word) for word in level.replace(",", " ").split()] for level in text.split("/")]
    except ValueError as error:
        raise ValueError(f"levels: {text[:60]!r} given, allowed are numbers from 0 to 1, levels separated by /") from error
    return RankLandscape(rows)


_LIVE = "live_recordings"


def keep_live(made: recording.Recording) -> None:
    """Keep a recording made in this session, under its own name."""
    st.session_state[_LIVE] = st.session_state.get(_LIVE, {}) | {made.name: made}


def recordings() -> list[str]:
    """Names of this session's own recordings, then of the shipped ones, those of a trained head first."""
    shipped = sorted(recording.shipped(), key=lambda name: (name.startswith("oracle"), name))
    return [*st.session_state.get(_LIVE, {}), *shipped]


def read_recording(name: str) -> recording.Recording:
    """A recording by name; raises ``ValueError`` naming those there are."""
    return st.session_state.get(_LIVE, {}).get(name) or _read_shipped(name)


@st.cache_resource(max_entries=32, show_spinner=False)
def _read_shipped(name: str) -> recording.Recording:
    shipped = recording.shipped()
    if name not in shipped:
        raise ValueError(f"recording: {name!r} given, allowed is one of {', '.join(shipped) or '(none is shipped yet)'}")
    return recording.read(shipped[name])


@st.cache_resource(max_entries=256, show_spinner=False)
def landscape(world: World) -> Landscape:
    """The landscape of these settings; raises ``ValueError`` with one sentence where they do not make one."""
    if world.source == "file":
        return uploaded().landscape
    if world.source == "levels":
        return parse_levels(world.levels)
    if world.source == "recording":
        cycles = read_recording(world.recording).cycles
        if not 0 <= world.position < len(cycles):
            raise ValueError(f"position: {world.position} given, allowed is 0 to {len(cycles) - 1} in {world.recording}")
        return cycles[world.position].landscape
    return SyntheticLandscape(world.seed, world.sharpness, world.branching, world.coverage)


@st.cache_resource(max_entries=256, show_spinner=False)
def draft(world: World, key: PolicyKey, budget: int) -> Draft:
    """What the policy keeps of this budget, or all it scores where that is less."""
    return draft_up_to(key.policy(), landscape(world), budget)[0]


@st.cache_resource(max_entries=256, show_spinner=False)
def curve(world: World, key: PolicyKey, most: int) -> np.ndarray:
    """Expected accepted at budgets 0 .. ``most`` (or as far as the policy scores)."""
    return budget_curve(key.policy(), landscape(world), most)


@st.cache_resource(max_entries=64, show_spinner=False)
def _drafts(name: str, key: PolicyKey, budget: int) -> list[Draft]:
    return [draft_up_to(key.policy(), cycle.landscape, budget)[0] for cycle in read_recording(name).cycles]


@st.cache_resource(max_entries=256, show_spinner=False)
def passes(name: str, key: PolicyKey, budget: int) -> list[Pass]:
    """What a policy would have got in every cycle of a recording."""
    ahead = int(PROPERTIES["budget"].high) if key.policy().nested else budget
    drafts = zip(read_recording(name).cycles, _drafts(name, key, ahead), strict=True)
    return [replay(cycle, kept_at(draft, budget)) for cycle, draft in drafts]


@st.cache_resource(max_entries=64, show_spinner=False)
def accepted_at_every_budget(names: tuple[str, ...], key: PolicyKey) -> tuple[np.ndarray, np.ndarray]:
    """Mean accepted tokens (bonus not counted) and draft passes at budgets 0, 1, ..., over all contexts; nested policies only."""
    if not key.policy().nested:
        raise ValueError(f"policy: {key.title} given, allowed is one whose trees grow with the budget")
    most = int(PROPERTIES["budget"].high)
    curves, passes = [], []
    for name in names:
        for cycle, draft in zip(read_recording(name).cycles, _drafts(name, key, most), strict=True):
            curve = accepted_curve(cycle, draft)
            curves.append(np.pad(curve, (0, most + 1 - len(curve)), mode="edge"))
            passes.append(_passes_at_every_budget(draft, most))
    return np.mean(curves, axis=0), np.mean(passes, axis=0)


def _passes_at_every_budget(draft: Draft, most: int) -> np.ndarray:
    """EAGLE-2 always makes all its passes; a fixed shape one a level it reaches, best-first one a node it expands."""
    if draft.policy == "eagle2":
        return np.r_[0, np.full(most, draft.passes)]
    depths = np.maximum.accumulate([0, *(len(path) for path in draft.order)])
    counts = np.arange(len(depths)) if draft.policy == "best_first" else depths
    return np.pad(counts, (0, most + 1 - len(counts)), mode="edge")


def same_drafter(name: str) -> tuple[str, ...]:
    """Names of all recordings made by the same drafter as this one."""
    drafter = read_recording(name).drafter
    return tuple(other for other in recordings() if read_recording(other).drafter == drafter)


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
        return calibration.climb(cycles, calibration.ablation_policies(max_depth, top_k), budget)
    return calibration.climb(cycles, calibration.ladder_policies(max_depth, top_k), budget, oracle=max_depth)


@st.cache_resource(max_entries=64, show_spinner=False)
def trace(world: World, static: PolicyKey, dynamic: PolicyKey, tier: int, budget: int) -> dict:
    """What the stage draws. ``budget`` only matters to policies that choose anew at each budget."""
    extra = {}
    if world.source == "recording":
        rec = read_recording(world.recording)
        extra = {"root_text": rec.root_text(world.position), "continuation": rec.cycles[world.position].continuation}
    return build_trace(landscape(world), static.policy(), dynamic.policy(), tier=tier, budget=budget, label=world.label, **extra)


@st.cache_data(max_entries=64, show_spinner=False)
def gains(budget: int, branching: int, coverage: float, top_k: int, max_depth: int) -> list[Population]:
    """Two hundred seeds at each of nine sharpnesses (about 0.3 s)."""
    return [population(sharpness, budget, branching, coverage, top_k, max_depth) for sharpness in SHARPNESSES]


@st.cache_data(max_entries=256, show_spinner=False)
def gain_here(sharpness: float, budget: int, branching: int, coverage: float, top_k: int, max_depth: int) -> Population:
    """Two hundred seeds at one sharpness."""
    return population(sharpness, budget, branching, coverage, top_k, max_depth)
