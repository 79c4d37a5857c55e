"""How far a drafter's confidences can be trusted and what each policy makes of them: one report, recorded or live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .greedy import as_drafted
from .ladder import Rung, ablation_policies, ladder_policies, score_policies
from .landscape import Landscape
from .policies import Eagle2, Policy
from .policies.base import DEFAULT_LEVELS
from .readout import draft_up_to
from .recording import Recording, read_in
from .reliability import (
    Group,
    Observations,
    Reliability,
    by_depth,
    by_rank,
    clustered_mean,
    mean_top,
    observe,
    reliability,
    sampled_value,
)
from .tree import DraftTree
from .verification import Verdict


class Context(NamedTuple):
    """One verified pass of one policy: its ``prompt`` and the ``kind`` of it, nodes ``drafted``, drafted tokens ``accepted``.

    ``expected`` and ``sampled`` are the sums of the tree's path products in the reading that it was drafted in and in the sampling
    reading; ``written`` the tokens that the pass wrote, bonus counted, cut where the answer ends.
    """

    prompt: str
    kind: str
    drafted: int
    expected: float
    sampled: float
    accepted: int
    written: int


@dataclass(frozen=True)
class Means:
    """Means over ``contexts`` passes of what a ``Context`` says; ``tau`` is the mean of the written tokens.

    ``low`` and ``high``: a 95 % interval of tau over answers, whose passes resemble each other.
    """

    contexts: int
    drafted: float
    expected: float
    sampled: float
    accepted: float
    tau: float
    low: float
    high: float

    @classmethod
    def of(cls, contexts: Sequence[Context]) -> Means:
        """The means of these; raises ``ValueError`` where there are none.

        >>> Means.of([Context("1", "verse", 4, 0.5, 0.4, 0, 1), Context("2", "code", 4, 1.5, 1.2, 3, 4)]).tau
        2.5
        """
        if not contexts:
            raise ValueError("contexts: none given, at least one verify pass is needed")
        prompts, _, *columns = zip(*contexts, strict=True)
        _, low, high = clustered_mean(columns[-1], prompts)
        return cls(len(contexts), *(float(np.mean(column)) for column in columns), low, high)


@dataclass(frozen=True)
class Lead:
    """Tokens a pass by which one policy is ahead of another on the same contexts, with a 95 % interval over answers."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Standing:
    """How one policy fared on the same contexts as all others of a live run: ``whole``, and on the prompts of each kind.

    ``over`` its lead over each other policy by name. ``budget`` drafted nodes asked for, root not counted; fewer are ``drafted``
    where the policy scores fewer.
    """

    name: str
    title: str
    budget: int
    whole: Means
    by_kind: Mapping[str, Means]
    over: Mapping[str, Lead]

    def to_json(self) -> dict:
        """Plain numbers, means as objects."""
        plain = {"name": self.name, "title": self.title, "budget": self.budget, **vars(self.whole)}
        lists = {"by_kind": self.by_kind, "over": self.over}
        return plain | {name: {key: dict(vars(one)) for key, one in found.items()} for name, found in lists.items()}


def standings_of(contest: Mapping[str, tuple[Policy, int]], contexts: Mapping[str, Sequence[Context]]) -> tuple[Standing, ...]:
    """Average the policies' contexts, the same ones in the same order for each; raises ``ValueError`` without one."""
    return tuple(_standing(name, *entry, contexts) for name, entry in contest.items())


def _standing(name: str, policy: Policy, budget: int, contexts: Mapping[str, Sequence[Context]]) -> Standing:
    own = contexts[name]
    kinds = dict.fromkeys(one.kind for one in own)
    by_kind = {kind: Means.of([one for one in own if one.kind == kind]) for kind in kinds}
    over = {other: _lead(own, theirs) for other, theirs in contexts.items() if other != name}
    return Standing(name, policy.title, budget, Means.of(own), by_kind, over)


def _lead(own: Sequence[Context], theirs: Sequence[Context]) -> Lead:
    apart = [one.written - other.written for one, other in zip(own, theirs, strict=True)]
    return Lead(*clustered_mean(apart, [one.prompt for one in own]))


@dataclass(frozen=True)
class CalibrationReport:
    """How far one drafter's confidences can be trusted, and what each policy makes of them.

    ``policy`` and ``budget`` say whose drafted nodes were observed over ``contexts`` cycles; ``expected`` and ``accepted`` are
    its mean drafted tokens accepted, promised and measured, bonus not counted, ``tau`` the tokens written per verify pass (bonus
    counted, cut where the answer ends), ``top`` the mean confidence, as the drafter gave it, of the root's first candidate.
    ``reading`` says how the confidences were read for drafting ("sampling" or "greedy"),
    ``sampled`` what the same trees promise for sampling. ``reliability``, ``by_depth`` and ``by_rank`` speak of the confidences as
    the drafter gave them, ``greedy`` of the greedy reading, whose truth is ``ece_accepted`` (None where drafted by sampling's).
    ``ladder`` and ``ablation`` are empty where
    contexts were not recorded wide enough for other policies (live runs). ``standings``: all policies of a live run that verified
    several on the same contexts, the leading one first.
    """

    drafter: str
    policy: str
    budget: int
    contexts: int
    reading: str
    expected: float
    sampled: float
    accepted: float
    tau: float
    top: float
    reliability: Reliability
    by_depth: tuple[Group, ...]
    by_rank: tuple[Group, ...]
    greedy: Reliability | None = None
    ladder: tuple[Rung, ...] = ()
    ablation: tuple[Rung, ...] = ()
    standings: tuple[Standing, ...] = ()

    def to_json(self) -> dict:
        """Plain numbers under the fields' own names."""
        numbers = ("drafter", "policy", "budget", "contexts", "reading", "expected", "sampled", "accepted", "tau", "top")
        groups = ("by_depth", "by_rank", "ladder", "ablation")
        plain = {name: getattr(self, name) for name in numbers}
        lists = {name: [dict(vars(entry)) for entry in getattr(self, name)] for name in groups}
        greedy = None if self.greedy is None else self.greedy.to_json()
        standings = [one.to_json() for one in self.standings]
        return {**plain, "reliability": self.reliability.to_json(), "greedy": greedy, **lists, "standings": standings}


def summarise(
    drafter: str,
    policy: str,
    budget: int,
    outcomes: Sequence[tuple[Landscape, DraftTree, Verdict]],
    written: Sequence[int],
    reading: str = "sampling",
) -> CalibrationReport:
    """A report on cycles that were verified: (landscape, tree, verdict) each, with the tokens each pass wrote.

    ``reading`` is the one that the trees were drafted in. Raises ``ValueError`` where there are no cycles.
    """
    seen = Observations.join(observe(*outcome) for outcome in outcomes)
    return CalibrationReport(
        drafter=drafter,
        policy=policy,
        budget=budget,
        contexts=len(outcomes),
        reading=reading,
        expected=float(np.mean([tree.expected_accepted for _, tree, _ in outcomes])),
        sampled=float(np.mean([sampled_value(landscape, tree) for landscape, tree, _ in outcomes])),
        accepted=float(np.mean([verdict.accept_length for _, _, verdict in outcomes])),
        tau=float(np.mean(written)),
        top=mean_top(as_drafted(landscape) for landscape, _, _ in outcomes),
        reliability=reliability(seen),
        by_depth=by_depth(seen),
        by_rank=by_rank(seen),
        greedy=reliability(replace(seen, confidence=seen.chance)) if reading == "greedy" else None,
    )


def calibrate_recorded(
    recordings: Sequence[Recording],
    budget: int = 59,
    max_depth: int = DEFAULT_LEVELS,
    reading: str | None = None,
    others: Mapping[str, Policy] | None = None,
) -> CalibrationReport:
    """EAGLE-2's drafted nodes on every recorded context, with the ladder at the same budget and depth, and the paper's ablation
    at the same budget and the paper's six levels. ``others`` are rungs of the ladder too, by a name of one's own.

    ``reading`` of the confidences, "sampling" or "greedy"; None: greedy where all recordings know it, for their texts are greedy.
    All recordings must be of one drafter; raises ``ValueError`` otherwise, where none is given, or where one lacks the reading.
    """
    drafters = sorted({one.drafter for one in recordings})
    if len(drafters) != 1:
        raise ValueError(f"recordings: drafters {drafters} given, allowed is exactly one")
    recordings, reading = read_in(recordings, reading)
    cycles = [cycle for one in recordings for cycle in one.cycles]
    policy = Eagle2(max_depth=max_depth)
    outcomes, counts = [], []
    for cycle in cycles:
        tree = draft_up_to(policy, cycle.landscape, budget)[0].tree
        outcomes.append((cycle.landscape, tree, cycle.verdict(tree)))
        counts.append(cycle.written(outcomes[-1][-1].accept_length))
    return replace(
        summarise(drafters[0], policy.name, budget, outcomes, counts, reading),
        ladder=score_policies(cycles, ladder_policies(max_depth) | dict(others or {}), budget, oracle=max_depth),
        ablation=score_policies(cycles, ablation_policies(), budget),
    )
