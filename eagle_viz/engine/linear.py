"""Frozen matrix multiplications, packed once for the processor."""

import torch
import torch.nn.functional as F
from torch import Tensor


def _can_pack(weight: Tensor) -> bool:
    """Whether oneDNN can hold this matrix in its own blocked layout (bfloat16 needs a processor that multiplies it)."""
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    if weight.dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return weight.dtype == torch.float32


class Linear:
    """`x @ weight.T + bias` for a weight that never changes again.

    `weight` is [out, in], `bias` [out] or None. Without packing, oneDNN reorders the weight on every call, which
    for a few rows costs more than the multiplication: packed, 26 rows in bfloat16 are three times faster.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None):
        self.shape = tuple(weight.shape)
        self._packed = _can_pack(weight)
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous()) if self._packed else weight
        self._bias = bias

    def __call__(self, x: Tensor) -> Tensor:
        """The product, [..., in] -> [..., out]."""
        if not self._packed:
            return F.linear(x, self._weight, self._bias)
        return torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, "none", [], "")

    def swish(self, x: Tensor) -> Tensor:
        """The product through SiLU, [..., in] -> [..., out]."""
        if not self._packed:
            return F.silu(F.linear(x, self._weight, self._bias))
        return torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, "swish", [], "")

    def plus(self, x: Tensor, other: Tensor) -> Tensor:
        """The product plus `other` [..., out]."""
        return self._with(x, other, "add")

    def times(self, x: Tensor, other: Tensor) -> Tensor:
        """The product times `other` [..., out], element by element."""
        return self._with(x, other, "mul")

    def _with(self, x: Tensor, other: Tensor, operation: str) -> Tensor:
        if not self._packed:
            product = F.linear(x, self._weight, self._bias)
            return product + other if operation == "add" else product * other
        return torch.ops.mkldnn._linear_pointwise.binary(x, other, self._weight, self._bias, operation)
