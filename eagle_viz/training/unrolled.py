"""The draft head in training: the same layer as `engine.head`, differentiable, fed its own guesses for several steps.

Step 1 reads true features. Step s reads, at row i, step s-1's guess for position i, and attends to the rows it will find
when drafting: true rows up to i - (s - 1), then rows of steps 2 .. s along its own chain (arXiv 2503.01840, figure 6).
Symbols: B sequences, L positions, H hidden, D head size.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from eagle_viz.engine.llama import LlamaShape, rotary_table, rotate

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Reading:
    """What one unrolled step looked at and left behind: means over all heads and rows that count.

    `entropy` of the attention weights in nats (0: every head reads one row), `largest` the largest attention weight, `norm` of
    the state that the next step is fed with.
    """

    entropy: float
    largest: float
    norm: float


def shifted(x: Tensor, by: int) -> Tensor:
    """Rows of [B, L, ...] moved `by` positions towards the end; zeros come in at the front."""
    return x if by == 0 else torch.cat([torch.zeros_like(x[:, :by]), x[:, :-by]], dim=1)


def _grouped(x: Tensor, kv_heads: int) -> Tensor:
    """[B, L, heads, D] -> [B, kv heads, group * L, D]."""
    batch, length, heads, size = x.shape
    return x.view(batch, length, kv_heads, heads // kv_heads, size).permute(0, 2, 3, 1, 4).reshape(batch, kv_heads, -1, size)


def _ungrouped(x: Tensor, length: int) -> Tensor:
    """[B, kv heads, group * L, D] -> [B, L, heads * D]."""
    batch, kv_heads, _, size = x.shape
    return x.view(batch, kv_heads, -1, length, size).permute(0, 3, 1, 2, 4).reshape(batch, length, -1)


def attention_weights(q: Tensor, keys: list[Tensor]) -> Tensor:
    """Weights of step s = len(keys), [B, kv heads, group * L, L + s - 1]: true rows first, then the chain's own of steps 2 .. s.

    q [B, L, heads, D]; keys of steps 1 .. s, [B, L, kv heads, D] each.
    """
    length, kv_heads, step = q.shape[1], keys[0].shape[2], len(keys)
    group = q.shape[2] // kv_heads
    q = _grouped(q, kv_heads) / q.shape[-1] ** 0.5
    own = [_grouped(shifted(k, step - 1 - j), kv_heads).repeat(1, 1, group, 1) for j, k in enumerate(keys) if j]
    seen = torch.ones(length, length, dtype=torch.bool).tril(1 - step).repeat(group, 1)
    past = (q @ keys[0].permute(0, 2, 3, 1)).masked_fill(~seen, float("-inf"))
    return torch.cat([past, *((q * k).sum(-1, keepdim=True) for k in own)], dim=-1).softmax(-1).to(q.dtype)


def _attend(q: Tensor, keys: list[Tensor], values: list[Tensor]) -> Tensor:
    """Attention of step s = len(keys), [B, L, heads * D]; shapes as in `attention_weights`, values like keys."""
    length, kv_heads, step = q.shape[1], keys[0].shape[2], len(keys)
    if step == 1:
        out = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, keys[0], values[0])), is_causal=True, enable_gqa=True)
        return out.transpose(1, 2).reshape(*q.shape[:2], -1)
    group, weights = q.shape[2] // kv_heads, attention_weights(q, keys)
    out = weights[..., :length] @ values[0].transpose(1, 2)
    for j in range(1, step):
        value = _grouped(shifted(values[j], step - 1 - j), kv_heads).repeat(1, 1, group, 1)
        out = out + weights[..., length + j - 1, None] * value
    return _ungrouped(out, length)


class UnrolledHead(ABC):
    """A head's forward for training; `weights` carry the checkpoint's names and may require gradients."""

    layer: str  # the prefix of the decoder layer's tensors

    def __init__(self, shape: LlamaShape, weights: Weights):
        self.shape, self.weights = shape, weights
        self._cos, self._sin = rotary_table(shape)

    def guesses(self, embedded: Tensor, features: Tensor, steps: int) -> list[Tensor]:
        """What the lm_head reads, [B, L, H], after steps 1 .. `steps`.

        embedded  [B, L, H] embedding of the token after each position, features [B, L, F] what the head reads of the target.
        """
        return [self._readable(state) for state, *_ in self._steps(embedded, features, steps)]

    @torch.no_grad()
    def readings(self, embedded: Tensor, features: Tensor, rows: Tensor, steps: int) -> list[Reading]:
        """Attention and state of steps 1 .. `steps` at the flattened rows [N] that count."""
        return [self._reading(*made, rows) for made in self._steps(embedded, features, steps)]

    def _reading(self, state: Tensor, q: Tensor, keys: list[Tensor], rows: Tensor) -> Reading:
        weights = attention_weights(q, keys).float()
        batch, kv_heads, _, seen = weights.shape
        by_row = weights.view(batch, kv_heads, -1, q.shape[1], seen).permute(0, 3, 1, 2, 4).flatten(0, 1)[rows]
        entropy = -torch.special.xlogy(by_row, by_row).sum(-1)
        norm = state.flatten(0, 1)[rows].float().norm(dim=-1)
        return Reading(float(entropy.mean()), float(by_row.amax(-1).mean()), float(norm.mean()))

    def _steps(self, embedded: Tensor, features: Tensor, steps: int):
        """(state, query, all keys so far) of each step."""
        keys, values, state = [], [], self._entry(features)
        rotary = tuple(t[: embedded.shape[1], None] for t in (self._cos, self._sin))
        for step in range(steps):
            inputs, attended = self._inputs(embedded, shifted(state, 1) if step else state)
            q, k, v = (self._heads(attended, name) for name in "qkv")
            keys.append(rotate(k, *(t.to(k.dtype) for t in rotary)))
            values.append(v)
            q = rotate(q, *(t.to(q.dtype) for t in rotary))
            state = self._layer_output(inputs, _attend(q, keys, values))
            yield state, q, list(keys)

    @abstractmethod
    def _entry(self, features: Tensor) -> Tensor:
        """[B, L, F] of the target -> the state [B, L, H] that the first step reads."""

    @abstractmethod
    def _inputs(self, embedded: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The layer's residual input [B, L, H], and what its attention reads."""

    @abstractmethod
    def _readable(self, state: Tensor) -> Tensor:
        """What the lm_head reads of a state, [B, L, H]."""

    def _layer_output(self, x: Tensor, attended: Tensor) -> Tensor:
        x = x + F.linear(attended, self._matrix("self_attn.o_proj"))
        h = self._normed(x, f"{self.layer}.post_attention_layernorm")
        inner = F.silu(F.linear(h, self._matrix("mlp.gate_proj"))) * F.linear(h, self._matrix("mlp.up_proj"))
        return x + F.linear(inner, self._matrix("mlp.down_proj"))

    def _normed(self, x: Tensor, name: str) -> Tensor:
        return F.rms_norm(x, x.shape[-1:], self.weights[f"{name}.weight"], self.shape.norm_eps)

    def _heads(self, x: Tensor, name: str) -> Tensor:
        return F.linear(x, self._matrix(f"self_attn.{name}_proj")).view(*x.shape[:2], -1, self.shape.head_size)

    def _matrix(self, name: str) -> Tensor:
        return self.weights[f"{self.layer}.{name}.weight"]


class UnrolledEagle(UnrolledHead):
    """EAGLE-1/2: `fc` fuses embedding and feature, the layer has no input norm, its output is the next feature."""

    layer = "layers.0"

    def _entry(self, features: Tensor) -> Tensor:
        return features

    def _inputs(self, embedded: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        x = torch.cat([embedded, state], dim=-1).to(self.weights["fc.weight"].dtype)
        x = F.linear(x, self.weights["fc.weight"], self.weights["fc.bias"])
        return x, x

    def _readable(self, state: Tensor) -> Tensor:
        return state


class UnrolledEagle3(UnrolledHead):
    """EAGLE-3: `fc` fuses three of the target's hidden states once; attention reads the normed embedding beside the normed state.

    The state fed back is the layer's output before the final norm (arXiv 2503.01840, section 3.1).
    """

    layer = "midlayer"

    def _entry(self, features: Tensor) -> Tensor:
        return F.linear(features.to(self.weights["fc.weight"].dtype), self.weights["fc.weight"])

    def _inputs(self, embedded: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        embedded = self._normed(embedded.to(state.dtype), "midlayer.input_layernorm")
        return state, torch.cat([embedded, self._normed(state, "midlayer.hidden_norm")], dim=-1)

    def _readable(self, state: Tensor) -> Tensor:
        return self._normed(state, "norm")
