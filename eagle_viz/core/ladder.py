"""The ladder of policies on the same recorded contexts, from a chain to the best tree by the target's own probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .landscape import Candidates, Landscape, NotRecordedError
from .policies import BestFirst, BestStatic, Chain, Draft, Eagle1, Eagle2, NoAverageError, Policy
from .readout import draft_up_to
from .recording import RecordedCycle
from .reliability import UnknownTargetError, target_price
from .tree import ROOT, DraftTree, Node, Path, rank_order


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
            raise UnknownTargetError
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


def score_policies(
    cycles: Sequence[RecordedCycle], policies: Mapping[str, Policy], budget: int, oracle: int | None = None
) -> tuple[Rung, ...]:
    """Every policy on every recorded context with the same budget (root not counted); ``oracle`` a depth cap: add best-first priced
    by the target as the last rung. A policy that scores fewer nodes than the budget keeps all it has.

    A policy that asks for more than was recorded, or for an average that the recordings lack, is left out; so is the oracle where
    the target's probabilities are not known, and ``target`` is NaN. Raises ``ValueError`` without a context.
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
    except (NotRecordedError, NoAverageError, UnknownTargetError):
        return None
    return Rung(name, title, *(float(mean) for mean in scores.mean(axis=0)), contexts=len(cycles))


def _score(cycle: RecordedCycle, policy: Policy, budget: int, priced: bool) -> tuple[float, float, float, float]:
    landscape = TargetPriced(cycle.landscape) if priced else cycle.landscape
    draft, _ = draft_up_to(policy, landscape, budget)
    tree = in_drafter_terms(draft, landscape) if priced else draft.tree
    return (
        tree.expected_accepted,
        _value_if_known(cycle.landscape, tree),
        cycle.verdict(tree).accept_length,
        draft.passes,
    )


def _value_if_known(landscape: Landscape, tree: DraftTree) -> float:
    try:
        return target_value(landscape, tree.paths[1:])
    except UnknownTargetError:
        return math.nan


def in_drafter_terms(draft: Draft, landscape: TargetPriced) -> DraftTree:
    """An oracle's tree named by the drafter's ranks and priced by its confidences again."""
    nodes = []
    for node in draft.tree.nodes():
        path = landscape.original(node.path)
        nodes.append(Node(path, node.token, float(landscape.base.expand([path[:-1]])[0].confidences[path[-1]])))
    return DraftTree.from_nodes(nodes, landscape.root_token)
