"""What the two published kinds of draft head compute: their one decoder layer, what it reads, and what the lm_head reads of it.

Symbols: n rows, H hidden, D draft vocabulary.
"""

from collections.abc import Mapping
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from eagle_viz.engine.linear import Linear
from eagle_viz.engine.llama import Block, LlamaShape


class HeadLayer(Protocol):
    """One kind of head between the target's features and the lm_head; `taps` names the target layers that it reads.

    A state [n, H] is what a row hands down to its children: the target's features, fused, for committed text, and the layer's own
    output further down a tree.
    """

    taps: tuple[int, ...]

    def fuse(self, features: Tensor) -> Tensor:
        """States [n, H] of committed text from the target's features [n, W]."""

    def __call__(self, embedded: Tensor, states: Tensor, rotary, mask: Tensor | None, cache) -> Tensor:
        """The next states [n, H] from the embeddings [n, H] of the tokens after each row and the states before them."""

    def readable(self, states: Tensor) -> Tensor:
        """What the lm_head reads, [n, H]."""

    def lm_head(self, target_rows: Tensor) -> Tensor:
        """The lm_head [D, H]; `target_rows` is the target's, cut to the draft vocabulary."""


class EagleLayer:
    """EAGLE-1/2: `fc` over [embedding, feature], a Llama layer without input norm; its output is the next feature.

    Source: arXiv 2401.15077, section 4.1.
    """

    taps = ()

    def __init__(self, shape: LlamaShape, tensors: Mapping[str, Tensor], dtype: torch.dtype):
        bias = tensors["fc.bias"].to(dtype) if "fc.bias" in tensors else None
        self._fc = Linear(tensors["fc.weight"].to(dtype), bias)
        self._block = Block(shape, _below("layers.0.", tensors), dtype)
        self._own_lm_head = tensors.get("lm_head.weight")

    def fuse(self, features: Tensor) -> Tensor:
        return features

    def __call__(self, embedded: Tensor, states: Tensor, rotary, mask: Tensor | None, cache) -> Tensor:
        x = self._fc(torch.cat([embedded, states], dim=-1))
        return self._block(x[None], rotary, mask, cache, 0)[0]

    def readable(self, states: Tensor) -> Tensor:
        return states

    def lm_head(self, target_rows: Tensor) -> Tensor:
        return target_rows if self._own_lm_head is None else self._own_lm_head.float()


class Eagle3Layer:
    """EAGLE-3: `fc` over the hidden states entering three target layers, once; attention reads the normed embedding beside the
    normed state; the state goes on un-normed, and the head's own lm_head reads it through a last norm.

    `norm_before_residual`: the layer adds to the state through `hidden_norm` instead of the state as it is (vLLM's variant).
    Source: arXiv 2503.01840, section 3.1; vllm-project/vllm 00bd149, models/llama_eagle3.py.
    """

    def __init__(
        self,
        shape: LlamaShape,
        tensors: Mapping[str, Tensor],
        dtype: torch.dtype,
        taps: tuple[int, ...],
        norm_before_residual: bool = False,
    ):
        self.taps, self._dtype, self._eps = taps, dtype, shape.norm_eps
        self._residual_norm = tensors["midlayer.hidden_norm.weight"].to(dtype) if norm_before_residual else None
        self._fc = Linear(tensors["fc.weight"].to(dtype))
        self._block = Block(shape, _below("midlayer.", tensors), dtype)
        self._norm, self._own_lm_head = tensors["norm.weight"].float(), tensors["lm_head.weight"].float()

    def fuse(self, features: Tensor) -> Tensor:
        return self._fc(features.to(self._dtype))

    def __call__(self, embedded: Tensor, states: Tensor, rotary, mask: Tensor | None, cache) -> Tensor:
        read = torch.cat([F.rms_norm(part, part.shape[-1:], eps=self._eps) for part in (embedded, states)], dim=-1)
        if self._residual_norm is not None:
            states = F.rms_norm(states, states.shape[-1:], self._residual_norm, self._eps)
        return self._block(states[None], rotary, mask, cache, 0, read=read[None])[0]

    def readable(self, states: Tensor) -> Tensor:
        return F.rms_norm(states.float(), states.shape[-1:], self._norm, self._eps)

    def lm_head(self, target_rows: Tensor) -> Tensor:
        return self._own_lm_head


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
