"""From settings to landscapes and drafts, each made once and cached; nothing handed out here may be changed."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from ..core.landscape import Landscape, RankLandscape, SyntheticLandscape
from ..core.policies import POLICIES, Draft, FixedOrder, Policy, read_choices
from ..core.population import Population, affordable_seeds, population
from ..core.readout import draft_up_to
from ..core.uploaded import Uploaded
from ..imports import EndingLandscape
from ..stage.trace import EVERY_BUDGET_UP_TO, build_trace, tier_of
from .files import files
from .library import read_recording
from .settings import RECORDED_CHAIN, USUAL_BUDGET, Settings, effective_settings, offered_parameters

SHARPNESSES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)


_FILE_SIDES = ("file-static", "file-dynamic")


def uploaded() -> Uploaded:
    """The trees of the file that was loaded; raises ``ValueError`` where there is none (a link does not carry the file)."""
    found = files().trees
    if found is None:
        raise ValueError(
            "source: file given, but a link does not carry the file: load it again under Take it with you, or choose a source"
        )
    return found


@dataclass(frozen=True)
class LandscapeKey:
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
    def of(cls, settings: Settings) -> LandscapeKey:
        """Only what this source looks at, so that other settings do not throw away what is cached."""
        settings = effective_settings(settings)
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
        return f"seed {self.seed}, sharpness {self.sharpness:g}, {self.branching} candidates a node, coverage {self.coverage:g}"


@dataclass(frozen=True)
class PolicyKey:
    """A policy's name with the values of its parameters that the page offers: a cache key."""

    name: str
    parameters: tuple[tuple[str, float | str], ...] = ()

    @classmethod
    def of(cls, name: str, settings: Settings) -> PolicyKey:
        """Only what this policy takes, so that other settings do not throw away what is cached."""
        taken = (entry.name for entry in POLICIES[name].parameters if entry.name in offered_parameters())
        return cls(name, tuple((parameter, getattr(settings, parameter)) for parameter in taken))

    def policy(self) -> Policy:
        """The policy; a side of a file is the file's own."""
        if self.name in _FILE_SIDES:
            return getattr(uploaded(), self.name.removeprefix("file-"))
        if self.name == FixedOrder.name:
            return read_choices(dict(self.parameters)["shape"])
        return POLICIES[self.name](**dict(self.parameters))

    @property
    def title(self) -> str:
        """The policy's name for people."""
        return self.policy().title


def sides(settings: Settings) -> tuple[PolicyKey, PolicyKey]:
    """The static and the dynamic policy of these settings; trees from a file are kept as the file says.

    A shape of one's own takes the static side. Raises ``ValueError`` where its text is no node list.
    """
    if effective_settings(settings).source == "file":
        return tuple(map(PolicyKey, _FILE_SIDES))
    own = PolicyKey(FixedOrder.name, (("shape", settings.shape),)) if settings.shape.strip() else None
    return own or PolicyKey.of(settings.static, settings), PolicyKey.of(settings.dynamic, settings)


def most_budget(settings: Settings) -> int:
    """The largest budget worth computing ahead: all of them, or only a tier where a policy has to choose anew at each budget."""
    source, chosen = effective_settings(settings).source, _chosen(settings)
    if not all(policy.nested for policy in chosen):
        return tier_of(settings.budget)
    recorded_chain = source == "recording" and any(policy.single_path for policy in chosen)
    return max(RECORDED_CHAIN if recorded_chain else USUAL_BUDGET, tier_of(settings.budget))


def _chosen(settings: Settings) -> tuple[type[Policy], type[Policy]]:
    """The classes of both policies; a file's trees and a shape of one's own keep their nodes in one order at every budget."""
    if effective_settings(settings).source == "file":
        return FixedOrder, FixedOrder
    return FixedOrder if settings.shape.strip() else POLICIES[settings.static], POLICIES[settings.dynamic]


def trace_size(settings: Settings, bare: bool = False) -> tuple[int, int, int]:
    """``tier``, ``budget`` and ``most`` of the trace of these settings; ``bare``: of its first picture, which holds one tier.

    The budget is the tier but where a policy has to choose anew at each budget and these are too many to trace them all: so a
    budget that moves within a trace asks for no other.
    """
    most = most_budget(settings)
    tier = tier_of(settings.budget) if bare else most
    each = tier > EVERY_BUDGET_UP_TO and not all(policy.nested for policy in _chosen(settings))
    return tier, settings.budget if each else tier, most


def parse_levels(text: str) -> RankLandscape:
    """Confidences by rank, a level on each side of ``/``; raises ``ValueError`` naming the word that is not a number.

    The last level serves all deeper ones; where it is 0 the landscape ends there.

    >>> parse_levels("0.9 0.05 / 0.8, 0.1").confidences
    ((0.9, 0.05), (0.8, 0.1))
    """
    try:
        rows = [[float(word) for word in level.replace(",", " ").split()] for level in text.split("/")]
    except ValueError as error:
        raise ValueError(f'levels: "{_wrong_word(text)}" is not a number. Write for example 0.9 0.05 / 0.8 0.1') from error
    return RankLandscape(rows) if len(rows) == 1 or any(rows[-1]) else EndingLandscape(rows)


def _wrong_word(text: str) -> str:
    """The first word of a text of levels that is not a number."""
    for word in text.replace(",", " ").replace("/", " ").split():
        try:
            float(word)
        except ValueError:
            return word[:40]
    return text[:40]


@st.cache_resource(max_entries=256, show_spinner=False)
def landscape(key: LandscapeKey) -> Landscape:
    """The landscape of these settings; raises ``ValueError`` with one sentence where they do not make one."""
    if key.source == "file":
        return uploaded().landscape
    if key.source == "levels":
        return parse_levels(key.levels)
    if key.source == "recording":
        cycles = read_recording(key.recording).cycles
        if not 0 <= key.position < len(cycles):
            raise ValueError(f"position: {key.position} given, allowed is 0 to {len(cycles) - 1} in {key.recording}")
        return cycles[key.position].landscape
    return SyntheticLandscape(key.seed, key.sharpness, key.branching, key.coverage)


@st.cache_resource(max_entries=256, show_spinner=False)
def draft(land: LandscapeKey, policy: PolicyKey, budget: int) -> Draft:
    """What the policy keeps of this budget, or all it scores where that is less."""
    return draft_up_to(policy.policy(), landscape(land), budget)[0]


@st.cache_resource(max_entries=64, show_spinner=False)
def trace(land: LandscapeKey, static: PolicyKey, dynamic: PolicyKey, tier: int, budget: int, most: int, full: bool = True) -> dict:
    """What the stage draws, with curves up to budget ``most``. ``budget`` only matters to policies that choose anew at each budget.

    ``full``: with candidates, phases and rolls; without them it is small enough to follow a slider that is held.
    """
    extra: dict[str, object] = {"full": full, "curve_to": most}
    if land.source == "recording":
        rec = read_recording(land.recording)
        extra |= {
            "prompt": f"{rec.prompt}\n{rec.words_before(land.position)}".strip(),
            "root_text": rec.root_text(land.position),
            "continuation": rec.cycles[land.position].continuation,
        }
    return build_trace(landscape(land), static.policy(), dynamic.policy(), tier=tier, budget=budget, label=land.label, **extra)


@st.cache_data(max_entries=64, show_spinner=False)
def gains(budget: int, branching: int, coverage: float, top_k: int, max_depth: int) -> list[Population]:
    """``affordable_seeds`` at each of eleven sharpnesses: 0.3 s of processor time at the page's start, 2 s at the most."""
    return [gain_here(sharpness, budget, branching, coverage, top_k, max_depth) for sharpness in SHARPNESSES]


@st.cache_data(max_entries=256, show_spinner=False)
def gain_here(sharpness: float, budget: int, branching: int, coverage: float, top_k: int, max_depth: int) -> Population:
    """``affordable_seeds`` at one sharpness."""
    seeds = affordable_seeds(budget, branching, top_k, max_depth)
    return population(sharpness, budget, branching, coverage, top_k, max_depth, seeds)
