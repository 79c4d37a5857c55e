"""A drafter that lies: confidences bent away from acceptance, and what its trees lose against those of the honest one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from .hashing import node_hashes, normals, on_grid
from .landscape import Candidates, Landscape
from .policies import Policy
from .policies.base import check_share, check_whole
from .readout import cumulative, draft_up_to
from .tree import ROOT, Path

MOST = 10.0


@dataclass(frozen=True)
class Distortion:
    """What is done to a node's confidences p, in this order; every part off by default.

    ``temperature`` by depth of the candidates from 1 on (the last one goes on): p^(1/T), scaled back to the sum it had; below 1 the
    drafter is overconfident, above 1 underconfident. ``noise`` s: p * exp(s z), z normal, scaled back alike. ``shuffled`` the share
    of nodes whose confidences change hands at random. ``power`` a: p^a, not scaled back, so that every path product v becomes v^a:
    the promised number changes and the tree never does. ``seed`` of noise and shuffles. Raises ``ValueError`` naming the field.
    """

    temperature: tuple[float, ...] = (1.0,)
    noise: float = 0.0
    shuffled: float = 0.0
    power: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.temperature or not all(0.05 <= one <= MOST for one in self.temperature):
            raise ValueError(f"temperature: {self.temperature} given, allowed is one number from 0.05 to {MOST:g} a depth")
        check_share("noise", self.noise, most=MOST)
        check_share("shuffled", self.shuffled)
        if not 0.05 <= self.power <= MOST:
            raise ValueError(f"power: {self.power!r} given, allowed is a number from 0.05 to {MOST:g}")
        check_whole("seed", self.seed, 0, 2**32 - 1)

    def __call__(self, confidences: np.ndarray, path: Path) -> np.ndarray:
        """[m] the confidences that the lying drafter gives the same candidates of a node, in the honest order."""
        draws = normals(node_hashes([self.seed], [path])[0], 2 * len(confidences) + 1)[0]
        temperature = self.temperature[min(len(path), len(self.temperature) - 1)]
        bent = confidences ** (1 / temperature) * np.exp(self.noise * draws[: len(confidences)])
        total = bent.sum()
        bent = bent * (confidences.sum() / total) if total else bent
        if draws[-1] < _quantile(self.shuffled):
            bent = bent[np.argsort(draws[len(confidences) : -1], kind="stable")]
        return on_grid(np.minimum(bent, 1.0) ** self.power)


def _quantile(share: float) -> float:
    """The number that a standard normal falls under with this probability."""
    from statistics import NormalDist

    return -math.inf if share == 0 else math.inf if share == 1 else NormalDist().inv_cdf(share)


class Distorted(Landscape):
    """The same candidates as ``base``, in the order of the lying drafter's confidences; ``honest`` leads back to their paths."""

    def __init__(self, base: Landscape, distortion: Distortion) -> None:
        self.base, self.distortion, self.root_token = base, distortion, base.root_token
        self._orders: dict[Path, np.ndarray] = {}

    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        made: dict[Path, Candidates] = {}
        for _, level in groupby(sorted(paths, key=len), key=len):
            level = list(level)
            honest = [self.honest(path) for path in level]
            made |= {of[0]: self._bent(*of) for of in zip(level, honest, self.base.expand(honest), strict=True)}
        return [made[path] for path in paths]

    def _bent(self, path: Path, honest: Path, found: Candidates) -> Candidates:
        bent = self.distortion(found.confidences, honest)
        order = np.argsort(-bent, kind="stable")
        self._orders[path] = order
        target = found.target_probabilities
        return Candidates(found.tokens[order], bent[order], None if target is None else target[order])

    def honest(self, path: Path) -> Path:
        """The path of the same node in the honest drafter's ranks; its ancestors must have been expanded before."""
        return tuple(int(self._orders[path[:depth]][rank]) for depth, rank in enumerate(path))


def values_of(landscape: Landscape, paths: Iterable[Path]) -> list[float]:
    """Path products of a kept set by this landscape's own confidences; ``paths`` come with ancestors first."""
    paths = list(paths)
    parents = list(dict.fromkeys(path[:-1] for path in paths))
    children = dict(zip(parents, landscape.expand(parents), strict=True))
    values = {ROOT: 1.0}
    for path in paths:
        values[path] = values[path[:-1]] * float(children[path[:-1]].confidences[path[-1]])
    return list(values.values())[1:]


def worth(landscape: Landscape, paths: Iterable[Path]) -> float:
    """Expected accepted tokens of a kept set by this landscape's own confidences, bonus not counted."""
    return math.fsum(values_of(landscape, sorted(paths, key=len)))


@dataclass(frozen=True)
class Lie:
    """What lying cost, means over contexts, bonus not counted.

    ``promised`` by the lying drafter of its own trees, ``worth`` of these trees by honest confidences, ``honest`` the worth of the
    honest drafter's trees.
    """

    promised: float
    worth: float
    honest: float

    @property
    def lost(self) -> float:
        """Share of the tokens a pass (bonus counted) that the honest trees get and the lying ones do not."""
        return 1 - (1 + self.worth) / (1 + self.honest)


def lie(landscapes: Sequence[Landscape], policy: Policy, budget: int, distortion: Distortion) -> Lie:
    """Draft every context twice with one policy and budget, by the honest confidences and by the bent ones.

    Raises ``ValueError`` without a context. Law: with ``power`` alone nothing is lost, whatever is promised; nothing is ever gained
    where the policy is best-first.
    """
    _check_some(landscapes)
    rows = []
    for landscape in landscapes:
        bent = Distorted(landscape, distortion)
        tree = draft_up_to(policy, bent, budget)[0].tree
        honest = draft_up_to(policy, landscape, budget)[0].tree
        rows.append((tree.expected_accepted, worth(landscape, map(bent.honest, tree.paths[1:])), honest.expected_accepted))
    return Lie(*(float(mean) for mean in np.mean(rows, axis=0)))


def lie_curve(landscapes: Sequence[Landscape], policy: Policy, budget: int, distortion: Distortion) -> list[Lie]:
    """``lie`` at every budget from 0 to ``budget`` nodes from one drafting, for a nested policy.

    Raises ``ValueError`` without a context or for a policy that is not nested. Law: entry N is ``lie`` with budget N.
    """
    _check_some(landscapes)
    if not policy.nested:
        raise ValueError(f"policy: {policy.name} given, allowed is one whose trees grow with the budget")
    curves = []
    for landscape in landscapes:
        bent = Distorted(landscape, distortion)
        lying = draft_up_to(policy, bent, budget)[0]
        gained = np.cumsum([0.0, *values_of(landscape, map(bent.honest, lying.order))])
        honest = cumulative(draft_up_to(policy, landscape, budget)[0])
        whole = (np.pad(one, (0, budget + 1 - len(one)), mode="edge") for one in (cumulative(lying), gained, honest))
        curves.append(np.stack(list(whole)))
    return [Lie(*means) for means in np.mean(curves, axis=0).T.tolist()]


def _check_some(landscapes: Sequence[Landscape]) -> None:
    if not landscapes:
        raise ValueError("contexts: none given, at least one is needed")
