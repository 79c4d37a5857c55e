"""The draft head in training: the same layer as `engine.head`, differentiable, fed its own guesses for several steps.

Step 1 reads true features. Step s reads, at row i, step s-1's guess of feature i, and attends to the rows it will find
when drafting: true rows up to i - (s - 1), then rows of steps 2 .. s along its own chain (arXiv 2503.01840, figure 6).
Symbols: B sequences, L positions, H hidden, D head size.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from eagle_viz.engine.llama import LlamaShape, rotary_table, rotate

Weights = dict[str, Tensor]


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


def _attend(q: Tensor, keys: list[Tensor], values: list[Tensor]) -> Tensor:
    """Attention of step s = len(keys): q [B, L, heads, D]; keys and values of steps 1 .. s, [B, L, kv heads, D] each."""
    length, kv_heads, step = q.shape[1], keys[0].shape[2], len(keys)
    if step == 1:
        out = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, keys[0], values[0])), is_causal=True, enable_gqa=True)
        return out.transpose(1, 2).reshape(*q.shape[:2], -1)
    group = q.shape[2] // kv_heads
    q = _grouped(q, kv_heads) / q.shape[-1] ** 0.5
    own = [_grouped(shifted(k, step - 1 - j), kv_heads).repeat(1, 1, group, 1) for j, k in enumerate(keys) if j]
    seen = torch.ones(length, length, dtype=torch.bool).tril(1 - step).repeat(group, 1)
    past = (q @ keys[0].permute(0, 2, 3, 1)).masked_fill(~seen, float("-inf"))
    weights = torch.cat([past, *((q * k).sum(-1, keepdim=True) for k in own)], dim=-1).softmax(-1).to(q.dtype)
    out = weights[..., :length] @ values[0].transpose(1, 2)
    for j in range(1, step):
        value = _grouped(shifted(values[j], step - 1 - j), kv_heads).repeat(1, 1, group, 1)
        out = out + weights[..., length + j - 1, None] * value
    return _ungrouped(out, length)


class UnrolledHead:
    """The head's forward for training; `weights` carry the checkpoint's names and may require gradients."""

    def __init__(self, shape: LlamaShape, weights: Weights):
        self.shape, self.weights = shape, weights
        self._cos, self._sin = rotary_table(shape)

    def guesses(self, embedded: Tensor, features: Tensor, steps: int) -> list[Tensor]:
        """Guessed next features [B, L, H] of steps 1 .. `steps`.

        embedded  [B, L, H] embedding of the token after each position, features [B, L, H] the target's, both as the
        head's `fc` expects them.
        """
        keys, values, guesses = [], [], []
        rotary = tuple(t[: embedded.shape[1], None] for t in (self._cos, self._sin))
        for _ in range(steps):
            source = shifted(guesses[-1], 1) if guesses else features
            guesses.append(self._step(torch.cat([embedded, source], dim=-1), rotary, keys, values))
        return guesses

    def _step(self, x: Tensor, rotary, keys: list[Tensor], values: list[Tensor]) -> Tensor:
        x = F.linear(x.to(self.weights["fc.weight"].dtype), self.weights["fc.weight"], self.weights["fc.bias"])
        q, k, v = (self._heads(x, name) for name in "qkv")
        keys.append(rotate(k, *(t.to(k.dtype) for t in rotary)))
        values.append(v)
        q = rotate(q, *(t.to(q.dtype) for t in rotary))
        x = x + F.linear(_attend(q, keys, values), self._layer("self_attn.o_proj"))
        h = F.rms_norm(x, (self.shape.hidden,), self._layer("post_attention_layernorm"), self.shape.norm_eps)
        inner = F.silu(F.linear(h, self._layer("mlp.gate_proj"))) * F.linear(h, self._layer("mlp.up_proj"))
        return x + F.linear(inner, self._layer("mlp.down_proj"))

    def _heads(self, x: Tensor, name: str) -> Tensor:
        return F.linear(x, self._layer(f"self_attn.{name}_proj")).view(*x.shape[:2], -1, self.shape.head_size)

    def _layer(self, name: str) -> Tensor:
        return self.weights[f"layers.0.{name}.weight"]
