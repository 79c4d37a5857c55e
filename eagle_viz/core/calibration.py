"""How far a drafter's confidences can be trusted and what each policy makes of them: one report, recorded or live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .ladder import Rung, ablation_policies, ladder_policies, score_policies
from .landscape import Landscape
from .policies import Eagle2, Policy
from .readout import draft_up_to
from .recording import Recording
from .reliability import Group, Observations, Reliability, by_depth, by_rank, observe, reliability
from .tree import DraftTree
from .verification import Verdict


@dataclass(frozen=True)
class Standing:
    """How one policy fared on the same contexts as all others of a live run.

    ``expected`` and ``accepted`` are its mean drafted tokens accepted a pass, promised and measured, bonus not counted;
    ``tau`` tokens written per verify pass, bonus counted, cut where answers end; ``by_kind`` tau on the prompts of each kind.
    ``budget`` drafted nodes asked for, root not counted; ``drafted`` the mean that there were, fewer where the policy scores fewer.
    """

    name: str
    title: str
    budget: int
    drafted: float
    expected: float
    accepted: float
    tau: float
    by_kind: Mapping[str, float]


def average_contexts(name: str, policy: Policy, budget: int, contexts: Sequence[tuple[str, int, float, int, int]]) -> Standing:
    """Average one policy's contexts: (kind of prompt, nodes drafted, expected, accepted, written) each.

    Raises ``ValueError`` without one.

    >>> from eagle_viz.core.policies import Chain
    >>> average_contexts("chain", Chain(), 4, [("verse", 4, 0.5, 0, 1), ("code", 4, 1.5, 3, 4)]).by_kind
    {'verse': 1.0, 'code': 4.0}
    """
    if not contexts:
        raise ValueError("contexts: none given, at least one cycle is needed")
    kinds, *columns = zip(*contexts, strict=True)
    drafted, expected, accepted, tau = (float(np.mean(column)) for column in columns)
    of = {kind: [one[4] for one in contexts if one[0] == kind] for kind in dict.fromkeys(kinds)}
    means = {kind: float(np.mean(counts)) for kind, counts in of.items()}
    return Standing(name, policy.title, budget, drafted, expected, accepted, tau, means)


@dataclass(frozen=True)
class CalibrationReport:
    """How far one drafter's confidences can be trusted, and what each policy makes of them.

    ``policy`` and ``budget`` say whose drafted nodes were observed over ``contexts`` cycles; ``expected`` and ``accepted`` are
    its mean drafted tokens accepted, promised and measured, bonus not counted, ``tau`` the tokens written per verify pass (bonus
    counted, cut where the answer ends). ``ladder`` and ``ablation`` are empty where
    contexts were not recorded wide enough for other policies (live runs). ``standings``: all policies of a live run that verified
    several on the same contexts, the leading one first.
    """

    drafter: str
    policy: str
    budget: int
    contexts: int
    expected: float
    accepted: float
    tau: float
    reliability: Reliability
    by_depth: tuple[Group, ...]
    by_rank: tuple[Group, ...]
    ladder: tuple[Rung, ...] = ()
    ablation: tuple[Rung, ...] = ()
    standings: tuple[Standing, ...] = ()

    def to_json(self) -> dict:
        """Plain numbers under the fields' own names."""
        groups = ("by_depth", "by_rank", "ladder", "ablation", "standings")
        plain = {name: getattr(self, name) for name in ("drafter", "policy", "budget", "contexts", "expected", "accepted", "tau")}
        lists = {name: [dict(vars(entry)) for entry in getattr(self, name)] for name in groups}
        return {**plain, "reliability": self.reliability.to_json(), **lists}


def summarise(
    drafter: str, policy: str, budget: int, outcomes: Sequence[tuple[Landscape, DraftTree, Verdict]], written: Sequence[int]
) -> CalibrationReport:
    """A report on cycles that were verified: (landscape, tree, verdict) each, with the tokens each pass wrote.

    Raises ``ValueError`` where there are none.
    """
    seen = Observations.join(observe(*outcome) for outcome in outcomes)
    return CalibrationReport(
        drafter=drafter,
        policy=policy,
        budget=budget,
        contexts=len(outcomes),
        expected=float(np.mean([tree.expected_accepted for _, tree, _ in outcomes])),
        accepted=float(np.mean([verdict.accept_length for _, _, verdict in outcomes])),
        tau=float(np.mean(written)),
        reliability=reliability(seen),
        by_depth=by_depth(seen),
        by_rank=by_rank(seen),
    )


def calibrate_recorded(recordings: Sequence[Recording], budget: int = 59, max_depth: int = 12) -> CalibrationReport:
    """EAGLE-2's drafted nodes on every recorded context, with the ladder at the same budget and depth, and the paper's ablation
    at the same budget and the paper's six levels.

    All recordings must be of one drafter; raises ``ValueError`` otherwise or where none is given.
    """
    drafters = sorted({one.drafter for one in recordings})
    if len(drafters) != 1:
        raise ValueError(f"recordings: drafters {drafters} given, allowed is exactly one")
    cycles = [cycle for one in recordings for cycle in one.cycles]
    policy = Eagle2(max_depth=max_depth)
    outcomes, counts = [], []
    for cycle in cycles:
        tree = draft_up_to(policy, cycle.landscape, budget)[0].tree
        outcomes.append((cycle.landscape, tree, cycle.verdict(tree)))
        counts.append(cycle.written(outcomes[-1][-1].accept_length))
    return replace(
        summarise(drafters[0], policy.name, budget, outcomes, counts),
        ladder=score_policies(cycles, ladder_policies(max_depth), budget, oracle=max_depth),
        ablation=score_policies(cycles, ablation_policies(), budget),
    )
