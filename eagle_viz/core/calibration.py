"""Confidence against acceptance: reliability, calibration error, acceptance by depth and rank, and the ladder of policies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .landscape import Candidates, Landscape, NotRecordedError
from .policies import BestFirst, BestStatic, Chain, Draft, Eagle1, Eagle2, NoAverageError, Policy
from .readout import draft_up_to
from .recording import RecordedCycle, Recording
from .tree import ROOT, DraftTree, Node, Path, rank_order
from .verification import Verdict

BINS = 15


@dataclass(frozen=True, eq=False)
class Observations:
    """Drafted nodes whose parent was reached (the root always is), one entry each, arrays of equal length.

    ``confidence`` the drafter's and ``target`` the target's probability of the node given its path, ``accepted`` whether the text
    took it, ``depth`` levels below the root (1 first), ``rank`` among its siblings (0 first).
    """

    confidence: np.ndarray
    target: np.ndarray
    accepted: np.ndarray
    depth: np.ndarray
    rank: np.ndarray

    def __len__(self) -> int:
        return len(self.confidence)

    @classmethod
    def join(cls, parts: Iterable[Observations]) -> Observations:
        """All observations of several cycles; raises ``ValueError`` where there are none."""
        parts = list(parts)
        if not parts:
            raise ValueError("observations: none given, at least one cycle is needed")
        names = cls.__dataclass_fields__
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def observe(landscape: Landscape, tree: DraftTree, verdict: Verdict) -> Observations:
    """What one cycle says about confidence: the drafted children of the root and of every accepted node.

    The landscape's candidates must carry the target's probabilities there; raises ``ValueError`` where they do not.
    """
    reached = {0, *verdict.accepted}
    nodes = [node for node in range(1, len(tree)) if int(tree.parents[node]) in reached]
    prices = [target_price(landscape, tree.paths[node]) for node in nodes]
    return Observations(
        confidence=tree.confidences[nodes],
        target=np.array(prices, dtype=np.float64),
        accepted=np.isin(nodes, verdict.accepted),
        depth=tree.depths[nodes],
        rank=tree.ranks[nodes],
    )


def target_price(landscape: Landscape, path: Path) -> float:
    """The target's probability of a node given its path; raises ``ValueError`` where the landscape does not know it."""
    prices = landscape.expand([path[:-1]])[0].target_probabilities
    if prices is None:
        raise ValueError("target_probabilities: this landscape does not know the target's probabilities, a recording does")
    return float(prices[path[-1]])


# -- reliability -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bin:
    """Nodes of like confidence: how many, their mean confidence and target probability, and the share that was accepted.

    ``low`` and ``high`` are a 95 % Wilson interval for the accepted share.
    """

    count: int
    confidence: float
    target: float
    accepted: float
    low: float
    high: float


@dataclass(frozen=True)
class Reliability:
    """Bins of equal count, least confident first, and the calibration error over them.

    ``ece`` = sum over bins of count / total * |mean confidence - mean target probability|; ``ece_accepted`` the same against the
    accepted share, which also carries the noise of single outcomes.
    """

    bins: tuple[Bin, ...]
    ece: float
    ece_accepted: float
    count: int

    def to_json(self) -> dict:
        """Plain numbers, bins as objects."""
        return {"count": self.count, "ece": self.ece, "ece_accepted": self.ece_accepted, "bins": [dict(vars(b)) for b in self.bins]}


def reliability(observations: Observations, bins: int = BINS) -> Reliability:
    """Sort by confidence, cut into ``bins`` parts of equal count (fewer where there are fewer nodes), compare the means.

    Law: an oracle, whose confidence is the target's probability, has ``ece`` 0.
    """
    order = np.argsort(observations.confidence, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    found = tuple(_bin(observations, part) for part in parts)
    total = len(observations)
    ece = sum(b.count * abs(b.confidence - b.target) for b in found) / total if total else 0.0
    ece_accepted = sum(b.count * abs(b.confidence - b.accepted) for b in found) / total if total else 0.0
    return Reliability(found, ece, ece_accepted, total)


def _bin(observations: Observations, part: np.ndarray) -> Bin:
    taken = int(observations.accepted[part].sum())
    low, high = wilson(taken, len(part))
    confidence, target = float(observations.confidence[part].mean()), float(observations.target[part].mean())
    return Bin(len(part), confidence, target, taken / len(part), low, high)


def wilson(successes: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """The Wilson score interval of a share, 95 % by default; (0, 1) where nothing was counted.

    >>> tuple(round(x, 3) for x in wilson(8, 10))
    (0.49, 0.943)
    """
    if count == 0:
        return 0.0, 1.0
    share = successes / count
    centre = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


@dataclass(frozen=True)
class Group:
    """Nodes of one depth or one rank: how many had a reached parent, mean confidence and target probability, share accepted."""

    key: int
    count: int
    confidence: float
    target: float
    accepted: float


def by_depth(observations: Observations) -> tuple[Group, ...]:
    """Observations by level below the root, 1 first."""
    return _grouped(observations, observations.depth)


def by_rank(observations: Observations) -> tuple[Group, ...]:
    """Observations by rank among their siblings, 0 first."""
    return _grouped(observations, observations.rank)


def _grouped(observations: Observations, keys: np.ndarray) -> tuple[Group, ...]:
    groups = []
    for key in np.unique(keys).tolist():
        part = np.flatnonzero(keys == key)
        columns = (observations.confidence, observations.target, observations.accepted)
        groups.append(Group(int(key), len(part), *(float(column[part].mean()) for column in columns)))
    return tuple(groups)


# -- the ladder --------------------------------------------------------------------------------------------------------


class TargetPriced(Landscape):
    """The same candidates priced by the target: confidences are its own probabilities, ranks follow them.

    Best-first over it is the oracle: the best tree that this drafter's candidates allow. ``original`` leads back to the
    drafter's paths.
    """

    def __init__(self, base: Landscape) -> None:
        self.base, self.root_token = base, base.root_token
        self._orders: dict[Path, np.ndarray] = {}

    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        return [self._priced(path) for path in paths]

    def _priced(self, path: Path) -> Candidates:
        found = self.base.expand([self.original(path)])[0]
        if found.target_probabilities is None:
            raise ValueError("target_probabilities: this landscape does not know the target's probabilities, a recording does")
        order = np.argsort(-found.target_probabilities, kind="stable")
        self._orders[path] = order
        prices = found.target_probabilities[order]
        return Candidates(found.tokens[order], prices, prices)

    def original(self, path: Path) -> Path:
        """The drafter's rank path of a node named by the target's ranks; its ancestors must have been expanded before."""
        return tuple(int(self._orders[path[:depth]][rank]) for depth, rank in enumerate(path))


def target_value(landscape: Landscape, paths: Iterable[Path]) -> float:
    """Expected accepted tokens of a kept set under the target's own probabilities: the sum of its path products, bonus not counted.

    Law: with temperature 1 this is the mean accept_length (reference section 4). Every rung of a ladder is scored by it.
    """
    prices: dict[Path, float] = {ROOT: 1.0}
    for path in sorted(paths, key=len):
        prices[path] = prices[path[:-1]] * target_price(landscape, path)
    return math.fsum(price for path, price in prices.items() if path)


def best_first_gaps(candidates: Mapping[Path, Candidates], budget: int, max_depth: int, by_target: bool = False) -> list[Path]:
    """Nodes that best-first would keep and expand, as far as is known, but that are not expanded yet.

    Law: once it is empty, ``BestFirst(max_depth)`` at any budget up to ``budget`` finds all it asks for among ``candidates``
    (by the target's probabilities instead of the drafter's confidences with ``by_target``).
    """
    values: dict[Path, float] = {ROOT: 1.0}
    for path in sorted((path for path in candidates if len(path) < max_depth), key=len):
        row = candidates[path].target_probabilities if by_target else candidates[path].confidences
        value = values[path]
        values.update(((*path, rank), value * price) for rank, price in enumerate(row.tolist()))
    del values[ROOT]
    least = sorted(values.values(), reverse=True)[:budget][-1]
    best = sorted((path for path, value in values.items() if value >= least), key=lambda path: rank_order(values[path], path))
    return [path for path in best[:budget] if path not in candidates and len(path) < max_depth]


@dataclass(frozen=True)
class Rung:
    """One policy of a ladder, averaged over contexts with the same budget.

    ``expected`` what the drafter's confidences promise, ``target`` what the target's probabilities give, ``accepted`` the mean
    accept_length against the target's greedy text (NaN where that is unknown); bonus never counted. ``contexts`` how many counted.
    """

    name: str
    title: str
    expected: float
    target: float
    accepted: float
    passes: float
    contexts: int


def ladder_policies(max_depth: int, top_k: int = 10) -> dict[str, Policy]:
    """chain -> EAGLE-1 -> best static shape -> EAGLE-2 -> best-first: each step isolates breadth, shape, adaptivity, what the
    beam loses.
    """
    return {
        "chain": Chain(),
        "eagle1": Eagle1(),
        "best_static": BestStatic(),
        "eagle2": Eagle2(top_k=top_k, max_depth=max_depth),
        "best_first": BestFirst(max_depth=max_depth),
    }


def ablation_policies(max_depth: int = 6, top_k: int = 10) -> dict[str, Policy]:
    """EAGLE-2 without one or both of its ideas (arXiv 2406.16858, table 4): the path product as value, and the rerank."""
    common = {"top_k": top_k, "max_depth": max_depth}
    return {
        "neither": Eagle2(**common, expand_by="confidence", rerank=False),
        "no value": Eagle2(**common, expand_by="confidence"),
        "no rerank": Eagle2(**common, rerank=False),
        "full": Eagle2(**common),
    }


def climb(
    cycles: Sequence[RecordedCycle], policies: Mapping[str, Policy], budget: int, oracle: int | None = None
) -> tuple[Rung, ...]:
    """Every policy on every recorded context with the same budget (root not counted); ``oracle`` a depth cap: add best-first priced
    by the target as the last rung. A policy that scores fewer nodes than the budget keeps all it has.

    A policy that asks for more than was recorded, or for an average that the recordings lack, is left out. Raises ``ValueError``
    without a context.
    Law: by ``target`` no rung passes the oracle of the same depth cap, by ``expected`` none passes best-first of that cap.
    """
    if not cycles:
        raise ValueError("cycles: none given, at least one recorded context is needed")
    rungs = [_rung(name, policy.title, cycles, policy, budget) for name, policy in policies.items()]
    if oracle is not None:
        rungs.append(_rung("oracle", "Oracle", cycles, BestFirst(max_depth=oracle), budget, priced=True))
    return tuple(rung for rung in rungs if rung is not None)


def _rung(name: str, title: str, cycles: Sequence[RecordedCycle], policy: Policy, budget: int, priced: bool = False) -> Rung | None:
    try:
        scores = np.array([_score(cycle, policy, budget, priced) for cycle in cycles])
    except (NotRecordedError, NoAverageError):
        return None
    return Rung(name, title, *(float(mean) for mean in scores.mean(axis=0)), contexts=len(cycles))


def _score(cycle: RecordedCycle, policy: Policy, budget: int, priced: bool) -> tuple[float, float, float, float]:
    landscape = TargetPriced(cycle.landscape) if priced else cycle.landscape
    draft, _ = draft_up_to(policy, landscape, budget)
    tree = in_drafter_terms(draft, landscape) if priced else draft.tree
    return (
        tree.expected_accepted,
        target_value(cycle.landscape, tree.paths[1:]),
        cycle.verdict(tree).accept_length,
        draft.passes,
    )


def in_drafter_terms(draft: Draft, landscape: TargetPriced) -> DraftTree:
    """An oracle's tree named by the drafter's ranks and priced by its confidences again."""
    nodes = []
    for node in draft.tree.nodes():
        path = landscape.original(node.path)
        nodes.append(Node(path, node.token, float(landscape.base.expand([path[:-1]])[0].confidences[path[-1]])))
    return DraftTree.from_nodes(nodes, landscape.root_token)


# -- the whole report --------------------------------------------------------------------------------------------------


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


def stand(name: str, policy: Policy, budget: int, contexts: Sequence[tuple[str, int, float, int, int]]) -> Standing:
    """Average one policy's contexts: (kind of prompt, nodes drafted, expected, accepted, written) each.

    Raises ``ValueError`` without one.

    >>> stand("chain", Chain(), 4, [("verse", 4, 0.5, 0, 1), ("code", 4, 1.5, 3, 4)]).by_kind
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
        ladder=climb(cycles, ladder_policies(max_depth), budget, oracle=max_depth),
        ablation=climb(cycles, ablation_policies(), budget),
    )
