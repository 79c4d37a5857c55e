"""Confidence against acceptance: reliability diagram, calibration error, acceptance by depth and by rank."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .greedy import as_drafted
from .landscape import Landscape
from .tree import ROOT, DraftTree, Path
from .verification import Verdict

BINS = 15
WIDE_BINS = 10


@dataclass(frozen=True, eq=False)
class Observations:
    """Drafted nodes whose parent was reached (the root always is), one entry each, arrays of equal length.

    ``confidence`` the drafter's and ``target`` the target's probability of the node given its path, ``chance`` the confidence in
    the reading that the tree was drafted in, ``accepted`` whether the text took the node, ``depth`` levels below the root
    (1 first), ``rank`` among its siblings (0 first).
    """

    confidence: np.ndarray
    chance: np.ndarray
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
            raise ValueError("observations: none given, at least one verify pass is needed")
        names = cls.__dataclass_fields__
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def observe(landscape: Landscape, tree: DraftTree, verdict: Verdict) -> Observations:
    """What one cycle says about confidence: the drafted children of the root and of every accepted node.

    The landscape's candidates must carry the target's probabilities there; raises ``UnknownTargetError`` where they do not.
    """
    reached = {0, *verdict.accepted}
    nodes, drafted = [node for node in range(1, len(tree)) if int(tree.parents[node]) in reached], as_drafted(landscape)
    prices = [target_price(landscape, tree.paths[node]) for node in nodes]
    return Observations(
        confidence=np.array([_confidence(drafted, tree.paths[node]) for node in nodes], dtype=np.float64),
        chance=tree.confidences[nodes],
        target=np.array(prices, dtype=np.float64),
        accepted=np.isin(nodes, verdict.accepted),
        depth=tree.depths[nodes],
        rank=tree.ranks[nodes],
    )


def sampled_value(landscape: Landscape, tree: DraftTree) -> float:
    """Expected accepted tokens of a tree when sampling at temperature 1: the sum of the drafter's own path products."""
    drafted, values = as_drafted(landscape), {ROOT: 1.0}
    for path in tree.paths[1:]:
        values[path] = values[path[:-1]] * _confidence(drafted, path)
    return math.fsum(values.values()) - 1


def mean_top(landscapes: Iterable[Landscape]) -> float:
    """Mean confidence of the root's first candidate; raises ``ValueError`` without a landscape.

    >>> from eagle_viz.core.landscape import RankLandscape
    >>> mean_top([RankLandscape([0.5, 0.2]), RankLandscape([0.9])])
    0.7
    """
    tops = [float(landscape.expand([ROOT])[0].confidences[0]) for landscape in landscapes]
    if not tops:
        raise ValueError("landscapes: none given, at least one is needed")
    return float(np.mean(tops))


def _confidence(landscape: Landscape, path: Path) -> float:
    return float(landscape.expand([path[:-1]])[0].confidences[path[-1]])


class UnknownTargetError(ValueError):
    """The target's own probabilities were asked for and are not known."""

    def __init__(self) -> None:
        super().__init__("target_probabilities: not recorded here, so confidence cannot be held against them")


def target_price(landscape: Landscape, path: Path) -> float:
    """The target's probability of a node given its path; raises ``UnknownTargetError`` where the landscape does not know it."""
    prices = landscape.expand([path[:-1]])[0].target_probabilities
    if prices is None:
        raise UnknownTargetError
    return float(prices[path[-1]])


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


def bins_of_equal_width(observations: Observations, bins: int = WIDE_BINS) -> dict[float, Bin]:
    """Cut [0, 1] into ``bins`` stretches of equal width; by the middle of each stretch what fell into it, empty ones left out.

    Law: every observation is in exactly one bin; confidence 1 is in the last.
    """
    places = np.minimum((observations.confidence * bins).astype(np.int64), bins - 1)
    return {(place + 0.5) / bins: _bin(observations, np.flatnonzero(places == place)) for place in np.unique(places).tolist()}


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


def clustered_mean(values: Sequence[float], clusters: Sequence[object], z: float = 1.96) -> tuple[float, float, float]:
    """Mean of ``values`` with its 95 % interval where those of one cluster (the passes of one answer) resemble each other.

    The standard error is that of a ratio of sums over clusters; one cluster alone has none, and its interval is the mean itself.

    >>> [round(number, 2) for number in clustered_mean([1, 1, 3, 3], ["a", "a", "b", "b"])]
    [2.0, 0.04, 3.96]
    """
    mean = float(np.mean(values))
    apart: dict[object, float] = {}
    for value, cluster in zip(values, clusters, strict=True):
        apart[cluster] = apart.get(cluster, 0.0) + value - mean
    count = len(apart)
    if count < 2:
        return mean, mean, mean
    error = math.sqrt(math.fsum(one * one for one in apart.values()) * count / (count - 1)) / len(values)
    return mean, mean - z * error, mean + z * error


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
