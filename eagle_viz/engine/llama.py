"""A lean Llama forward for few positions at a time: preallocated cache, packed weights, fused epilogues.

Symbols: B batch, n new positions, m cached positions, H hidden size, D head size, V vocabulary.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from eagle_viz.engine.cache import KeyValueCache
from eagle_viz.engine.linear import Linear


@dataclass(frozen=True)
class LlamaShape:
    """What a Llama needs besides its weights. Raises ValueError naming a number that is none or not above 0."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    norm_eps: float
    rope_theta: float
    max_positions: int

    def __post_init__(self):
        for name, value in vars(self).items():
            whole = name not in ("norm_eps", "rope_theta")
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not 0 < value < math.inf:
                raise ValueError(f"{name}: {value!r} given, allowed is a {'whole number' if whole else 'number'} above 0")

    @classmethod
    def of(cls, config) -> "LlamaShape":
        """The shape of a Hugging Face `LlamaConfig`."""
        head_size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        return cls(
            hidden=config.hidden_size,
            layers=config.num_hidden_layers,
            heads=config.num_attention_heads,
            kv_heads=config.num_key_value_heads,
            head_size=head_size,
            norm_eps=config.rms_norm_eps,
            rope_theta=config.rope_parameters["rope_theta"],
            max_positions=config.max_position_embeddings,
        )


def is_plain_llama(config) -> bool:
    """Whether this forward covers the model: Llama with SiLU, default rotary positions and no biases."""
    return (
        config.model_type == "llama"
        and config.hidden_act == "silu"
        and not config.attention_bias
        and not config.mlp_bias
        and config.rope_parameters.get("rope_type", "default") == "default"
    )


def rotary_table(shape: LlamaShape) -> tuple[Tensor, Tensor]:
    """Cosines and signed sines of every position, [positions, D] each, float32.

    The sign of the rotation sits in the sines, so that rotating is `x * cos + roll(x, D / 2) * sin`.
    """
    half = shape.head_size // 2
    frequencies = shape.rope_theta ** (-torch.arange(half, dtype=torch.float32) / half)
    angles = torch.outer(torch.arange(shape.max_positions, dtype=torch.float32), frequencies)
    return torch.cat([angles.cos()] * 2, dim=-1), torch.cat([-angles.sin(), angles.sin()], dim=-1)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding of [B, n, heads, D] by [B, n, 1, D] tables."""
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, dims=-1), sin)


def additive_mask(mask: Tensor | None, new: int, total: int, dtype: torch.dtype) -> Tensor | None:
    """[B, 1, n, total] added to attention scores: 0 where a row may look, -inf elsewhere.

    `mask` is bool, [n, w] or [B, n, w], and describes the last `w` of the `total` positions; everything before is
    visible. None means a chain: each new position sees all earlier ones and itself. The result is None where attention
    needs no mask to know that: one position, or a chain with nothing cached.
    """
    if mask is None:
        if new in (1, total):
            return None
        mask = torch.ones(new, new, dtype=torch.bool).tril()
    if mask.dtype != torch.bool or mask.shape[-2] != new or mask.shape[-1] > total:
        raise ValueError(f"mask must be bool [{new}, up to {total}], got {mask.dtype} {list(mask.shape)}")
    mask = mask if mask.dim() == 3 else mask[None]
    out = torch.zeros(mask.shape[0], 1, new, total, dtype=dtype)
    out[..., total - mask.shape[-1] :].masked_fill_(~mask[:, None], float("-inf"))
    return out


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Attention of [B, heads, n, D] over [B, kv heads, m, D], several query heads to a key head.

    Without a mask one position sees everything, and n = m positions each see those before them and themselves.
    """
    batch, heads, new, size = q.shape
    if new > 1:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None, enable_gqa=True)
    # One position: the query heads of a group become rows of one product, and keys are read once, not per head.
    grouped = q.reshape(batch, k.shape[1], heads // k.shape[1], size)
    return F.scaled_dot_product_attention(grouped, k, v, attn_mask=mask).reshape(batch, heads, 1, size)


class Block:
    """One decoder layer; RMSNorm weights are folded into the matrices that follow them.

    `weights` holds the layer's tensors under Hugging Face's names without their prefix. A missing
    `input_layernorm.weight` means that the layer has no input norm (an EAGLE-1/2 head); with `hidden_norm.weight` beside it the
    attention reads 2H columns, handed in already normed (an EAGLE-3 head).
    """

    def __init__(self, shape: LlamaShape, weights: dict[str, Tensor], dtype: torch.dtype):
        self.shape = shape
        self.has_input_norm = "input_layernorm.weight" in weights
        norms = [weights[f"{n}.weight"].float() for n in ("input_layernorm", "hidden_norm") if f"{n}.weight" in weights]
        before = torch.cat(norms) if norms else torch.ones(shape.hidden)
        between = weights["post_attention_layernorm.weight"].float()
        qkv = torch.cat([weights[f"self_attn.{name}_proj.weight"].float() for name in "qkv"])
        biases = [weights[key].float() for key in (f"self_attn.{name}_proj.bias" for name in "qkv") if key in weights]
        self.qkv = Linear((qkv * before).to(dtype), torch.cat(biases).to(dtype) if biases else None)
        self.out = Linear(weights["self_attn.o_proj.weight"].to(dtype))
        self.gate = Linear((weights["mlp.gate_proj.weight"].float() * between).to(dtype))
        self.up = Linear((weights["mlp.up_proj.weight"].float() * between).to(dtype))
        self.down = Linear(weights["mlp.down_proj.weight"].to(dtype))

    def _normed(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, (self.shape.hidden,), eps=self.shape.norm_eps)

    def __call__(
        self, x: Tensor, rotary: tuple[Tensor, Tensor], mask: Tensor | None, cache, layer: int, read: Tensor | None = None
    ) -> Tensor:
        """[B, n, H] -> [B, n, H]; writes this layer's keys and values into `cache`.

        `read` [B, n, columns] is what attention reads where that is not `x` through its norm; norms without their weights applied.
        """
        if read is None:
            read = self._normed(x) if self.has_input_norm else x
        x = self.out.plus(self._attention(read, rotary, mask, cache, layer), x)
        h = self._normed(x)
        return self.down.plus(self.up.times(h, self.gate.swish(h)), x)

    def _attention(self, x: Tensor, rotary, mask, cache, layer: int) -> Tensor:
        heads, kv = self.shape.heads, self.shape.kv_heads
        qkv = self.qkv(x)
        qkv = qkv.view(*x.shape[:2], heads + 2 * kv, self.shape.head_size)
        turned = rotate(qkv[:, :, : heads + kv], *rotary).transpose(1, 2)
        k, v = cache.append(layer, turned[:, heads:], qkv[:, :, heads + kv :].transpose(1, 2))
        return attend(turned[:, :heads], k, v, mask).transpose(1, 2).reshape(*x.shape[:2], -1)


class Llama:
    """The body of a Llama: tokens to final hidden states (features). No gradients, weights frozen."""

    def __init__(self, shape: LlamaShape, weights: dict[str, Tensor], dtype: torch.dtype):
        self.shape, self.dtype = shape, dtype
        self.embeddings = weights["model.embed_tokens.weight"].to(dtype)
        self.blocks = [Block(shape, _layer(weights, i), dtype) for i in range(shape.layers)]
        self.norm = weights["model.norm.weight"].to(dtype)
        self._cos, self._sin = rotary_table(shape)

    def new_cache(self, capacity: int, batch: int = 1) -> KeyValueCache:
        """An empty cache for `capacity` positions."""
        s = self.shape
        return KeyValueCache(s.layers, batch, s.kv_heads, capacity, s.head_size, self.dtype)

    def forward(self, tokens: Tensor, mask, positions: Tensor, cache, taps: tuple[int, ...] = ()):
        """Features [B, n, H] of tokens [B, n] at positions [B, n], and the hidden states entering the layers `taps`."""
        new = tokens.shape[1]
        added = additive_mask(mask, new, cache.length + new, self.dtype)
        rotary = tuple(t[positions].to(self.dtype).unsqueeze(2) for t in (self._cos, self._sin))
        x, tapped = self.embeddings[tokens], []
        for i, block in enumerate(self.blocks):
            if i in taps:
                tapped.append(x)
            x = block(x, rotary, added, cache, i)
        cache.advance(new)
        return F.rms_norm(x, (self.shape.hidden,), self.norm, self.shape.norm_eps), tapped


def _layer(weights: dict[str, Tensor], index: int) -> dict[str, Tensor]:
    prefix = f"model.layers.{index}."
    return {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
