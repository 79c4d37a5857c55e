"""Probabilities as a recording stores them, so that a landscape and its recording hold the same numbers. Numpy alone."""

import numpy as np

from eagle_viz.core.hashing import on_grid


def exact(probabilities: np.ndarray) -> np.ndarray:
    """[n, k] probabilities cut to float32 so that no row sums to more than 1, then on the 2^-40 grid, in float64.

    A recording stores the float32 values: reading it gives these numbers again, bit for bit.
    """
    probabilities = np.asarray(probabilities, dtype=np.float64)
    over = np.maximum(probabilities.sum(axis=1, keepdims=True), 1.0)
    return on_grid(below_float32(probabilities / over))


def below_float32(values: np.ndarray) -> np.ndarray:
    """The largest float32 not above each float64 value."""
    near = values.astype(np.float32)
    return np.where(near > values, np.nextafter(near, np.float32(0)), near)
