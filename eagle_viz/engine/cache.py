"""Keys and values of the positions a model has seen, in memory allocated once."""

import torch
from torch import Tensor


class KeyValueCache:
    """Keys and values of every layer, [layers, batch, heads, capacity, head size] each; `length` positions are filled.

    One pass calls `append` once per layer and then `advance` once. Nothing is copied when the cache grows.
    """

    def __init__(self, layers: int, batch: int, heads: int, capacity: int, head_size: int, dtype: torch.dtype):
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1 position, got {capacity}")
        shape = (layers, batch, heads, capacity, head_size)
        self.keys = torch.zeros(shape, dtype=dtype)
        self.values = torch.zeros(shape, dtype=dtype)
        self.length = 0

    @property
    def capacity(self) -> int:
        """Positions that fit."""
        return self.keys.shape[3]

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write [batch, heads, n, head size] behind the filled positions; return all keys and values so far."""
        end = self.length + keys.shape[2]
        if end > self.capacity:
            raise ValueError(f"the cache holds {self.capacity} positions and {end} are needed: ask for a larger capacity")
        self.keys[layer, :, :, self.length : end] = keys
        self.values[layer, :, :, self.length : end] = values
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def advance(self, count: int) -> None:
        """Count the `count` positions that every layer has just appended."""
        self.length += count

    def keep(self, start: int, rows: list[int]) -> None:
        """Keep only `rows`, counted from position `start`, of all positions from `start` on, in the order given.

        After a verify pass over a tree whose root stood at `start`, `keep(start, [0, *accepted])` leaves the prefix,
        the root and the accepted nodes. `keep(start, [])` cuts the cache back to `start` positions.
        """
        if not 0 <= start <= self.length:
            raise ValueError(f"start must lie in 0..{self.length}, got {start}")
        if any(not 0 <= row < self.length - start for row in rows):
            raise ValueError(f"rows must lie in 0..{self.length - start - 1}, got {rows}")
        if rows != list(range(len(rows))):
            index = torch.tensor(rows) + start
            for store in (self.keys, self.values):
                store[:, :, :, start : start + len(rows)] = store[:, :, :, index]
        self.length = start + len(rows)

    def keep_batch(self, rows: Tensor) -> None:
        """Keep only these sequences of the batch."""
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]
