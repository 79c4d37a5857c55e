"""The counter-based hash behind ``SyntheticLandscape``: confidences from a seed and a path, in any order, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .tree import Path

GRID = 2.0**40
"""Confidences are rounded to multiples of 1 / GRID, so that last-bit differences between machines cannot change a tree."""


_GOLDEN = 0x9E3779B97F4A7C15
_Z_GRID = 2.0**32
"""Logits are rounded too: exp and cos may differ in the last bit between machines, and their errors must not add up."""


def on_grid(confidences: np.ndarray) -> np.ndarray:
    """Round confidences to multiples of 2^-40, in float64."""
    return np.rint(np.asarray(confidences, dtype=np.float64) * GRID) / GRID


def _mix(x: np.ndarray) -> np.ndarray:
    """splitmix64's finaliser (Steele, Lea, Flood 2014) on uint64, wrapping."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def node_hashes(seeds: Sequence[int], paths: Sequence[Path]) -> np.ndarray:
    """[seeds, paths] uint64: one hash a node, chained from the seed along its ranks."""
    lengths = np.array([len(path) for path in paths])
    ranks = np.zeros((len(paths), max(lengths, default=0)), dtype=np.uint64)
    for row, path in enumerate(paths):
        ranks[row, : len(path)] = path
    root = _mix((np.asarray(seeds, dtype=np.uint64) + np.uint64(1)) * np.uint64(_GOLDEN))
    hashes = np.repeat(root[:, None], len(paths), axis=1)
    for depth in range(ranks.shape[1]):
        child = child_hashes(hashes, ranks[None, :, depth])
        hashes = np.where(lengths[None, :] > depth, child, hashes)
    return hashes


def child_hashes(hashes: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Hashes of the children with these ranks (uint64, broadcast against their parents' hashes)."""
    return _mix(hashes + (ranks + np.uint64(1)) * np.uint64(_GOLDEN))


@lru_cache(maxsize=64)
def _counters(count: int) -> np.ndarray:
    return _mix((np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0xD1B54A32D192ED03))


def normals(hashes: np.ndarray, count: int) -> np.ndarray:
    """[..., count] standard normals from each node's hash by Box and Muller, on a grid of 2^-32."""
    bits = _mix(hashes[..., None] ^ _counters(2 * count))
    uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    radius = np.sqrt(-2.0 * np.log(uniform[..., :count]))
    z = radius * np.cos(2.0 * np.pi * uniform[..., count:])
    return np.rint(z * _Z_GRID) / _Z_GRID


def synthetic_confidences(
    seeds: Sequence[int], paths: Sequence[Path], sharpness: float, branching: int, coverage: float = 1.0
) -> np.ndarray:
    """[seeds, paths, branching] float64: the candidates' confidences, most confident first, of many landscapes at once.

    Law: equal to expanding each path of each ``SyntheticLandscape(seed, ...)`` alone.
    """
    return hashed_confidences(node_hashes(seeds, paths), sharpness, branching, coverage)


def hashed_confidences(hashes: np.ndarray, sharpness: float, branching: int, coverage: float) -> np.ndarray:
    """[..., branching] float64: the candidates' confidences below nodes of these hashes, most confident first."""
    z = -np.sort(-normals(hashes, branching), axis=-1)
    weights = np.exp(sharpness * (z - z[..., :1]))
    return on_grid(coverage * weights / weights.sum(axis=-1, keepdims=True))
