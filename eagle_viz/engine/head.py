"""A draft head, EAGLE-1/2 or EAGLE-3: one decoder layer that continues the target's features.

Row i of a pass reads the embedding of token i + 1 and the state of position i (the target's feature, or what the head said
before), and answers with a guess of the state of position i + 1; an lm_head turns the guess into a distribution over token i + 2.
Source: arXiv 2401.15077, section 4.1; arXiv 2503.01840, section 3.1. Symbols: n rows, H hidden, V vocabulary, D draft vocabulary.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from eagle_viz.engine.cache import KeyValueCache
from eagle_viz.engine.checkpoint import HeadCheckpoint, HeadError, read_head, write_head
from eagle_viz.engine.head_rules import HARMLESS, check_head, draft_tokens
from eagle_viz.engine.layers import Eagle3Layer, EagleLayer, HeadLayer
from eagle_viz.engine.linear import Linear
from eagle_viz.engine.llama import LlamaShape, additive_mask, rotary_table
from eagle_viz.engine.speculators import published
from eagle_viz.engine.target import Target


class Candidates(NamedTuple):
    """Per row the most confident next tokens: target ids [n, k] int64 and calibrated probabilities [n, k] float64."""

    tokens: Tensor
    confidences: Tensor


class Head:
    """A frozen draft head of either kind for one target; `taps` are the target layers whose entering hidden states it reads.

    >>> head = Head.load("models/smollm2-135m-eagle3", target)                        # doctest: +SKIP
    >>> cache = head.new_cache(512)
    >>> guesses = head.forward(tokens[1:] + [root], head.fuse(features), cache=cache)  # a prompt's pass, [n, H]
    >>> head.candidates(guesses[-1:], count=10, depths=[1]).confidences.shape        # the root's children
    torch.Size([1, 10])
    """

    def __init__(self, checkpoint: HeadCheckpoint, target: Target, dtype: torch.dtype | None = None):
        check_head(checkpoint, target.hidden, target.vocabulary)
        self.checkpoint, self.dtype = checkpoint, dtype or target.dtype
        self.shape = head_shape(checkpoint)
        self._layer = _head_layer(checkpoint, self.shape, target, self.dtype)
        self.taps = self._layer.taps
        self._cos, self._sin = rotary_table(self.shape)
        self._embeddings = checkpoint.tensors.get("embed_tokens.weight", target.embeddings)
        self.draft_tokens = draft_tokens(checkpoint, target.vocabulary)
        lm_head = self._layer.lm_head(target.lm_head_weight[self.draft_tokens].float())
        self._lm_head = _draft_lm_head(checkpoint, lm_head)
        self._temperatures = torch.tensor(checkpoint.temperatures)

    @classmethod
    def load(cls, folder: str | Path, target: Target, dtype: torch.dtype | None = None) -> "Head":
        """Load a head from its folder, in EAGLE's layout or that of vLLM's speculators.

        Raises HeadError if it is broken or belongs to another target.
        """
        return cls(published(read_head(folder)), target, dtype)

    @classmethod
    def random(cls, target: Target, seed: int = 0, draft_vocabulary: int = 8192) -> "Head":
        """An untrained head over the first `draft_vocabulary` token ids: for tests, and as the start of training."""
        size = min(draft_vocabulary, target.vocabulary)
        return cls(random_checkpoint(target, torch.arange(size), seed), target)

    def save(self, folder: str | Path, dtype: torch.dtype = torch.float16) -> None:
        """Write config.json and model.safetensors."""
        write_head(folder, self.checkpoint, dtype)

    def new_cache(self, capacity: int = 2048) -> KeyValueCache:
        """An empty cache for one sequence of at most `capacity` rows, drafted nodes included."""
        return KeyValueCache(1, 1, self.shape.kv_heads, capacity, self.shape.head_size, self.dtype)

    @torch.inference_mode()
    def fuse(self, features: Tensor) -> Tensor:
        """States [n, H] of committed text from what the target's passes give at `taps` (`TargetPass.read`), [n, W]."""
        return self._layer.fuse(features)

    @torch.inference_mode()
    def forward(self, tokens, states: Tensor, mask: Tensor | None = None, position_ids=None, cache=None) -> Tensor:
        """Guessed next states [n, H] for n new rows behind everything in `cache`.

        tokens        n token ids, of the position *after* each state.
        states        [n, H], the target's features through `fuse`, or this head's own guesses further down a tree.
        mask          bool [n, w]: which of the last w rows (cached and new) each row sees; earlier ones are all
                      visible. None: a chain.
        position_ids  [n], None: counting on from the cache's length. Of a tree node: committed rows - 1 + depth.
        cache         from `new_cache`; all n rows are written into it.
        """
        tokens = torch.as_tensor(tokens, dtype=torch.long)
        cache = self.new_cache(len(tokens)) if cache is None else cache
        if position_ids is None:
            position_ids = torch.arange(cache.length, cache.length + len(tokens))
        positions = torch.as_tensor(position_ids, dtype=torch.long)
        self._reach(int(positions.max()))
        rotary = tuple(t[positions].to(self.dtype)[None, :, None] for t in (self._cos, self._sin))
        added = additive_mask(mask, len(tokens), cache.length + len(tokens), self.dtype)
        out = self._layer(self._embeddings[tokens].to(self.dtype), states.to(self.dtype), rotary, added, cache)
        cache.advance(len(tokens))
        return out

    def _reach(self, position: int) -> None:
        """Have rotary tables up to this position, beyond what config.json says too: the published code grows its table alike."""
        if position >= len(self._cos):
            self._cos, self._sin = rotary_table(replace(self.shape, max_positions=2 * (position + 1)))

    @torch.inference_mode()
    def probabilities(self, guesses: Tensor, depths) -> Tensor:
        """Calibrated probabilities [n, D] of the draft vocabulary after rows whose children lie at `depths` [n].

        A row's sum is below one by what the head gives to tokens outside the draft vocabulary.
        """
        index = (torch.as_tensor(depths) - 1).clamp(0, len(self._temperatures) - 1)
        # float32 always: bfloat16 logits would tie neighbouring candidates and move confidences by several per cent.
        logits = self._lm_head(self._layer.readable(guesses).float()) / self._temperatures[index][:, None]
        return logits.softmax(-1)[:, : len(self.draft_tokens)]

    def candidates(self, guesses: Tensor, count: int, depths) -> Candidates:
        """The `count` most confident tokens after each of n guesses [n, H]; `depths` [n] is where those tokens lie (>= 1).

        Equal probabilities are ordered by draft id, so that the answer does not depend on the sorting routine.
        """
        probabilities = self.probabilities(guesses, depths)
        confidences, ids = probabilities.topk(min(count, probabilities.shape[1]), dim=-1)
        order = torch.argsort(ids, dim=-1)
        order = order.gather(-1, torch.argsort(confidences.gather(-1, order), dim=-1, descending=True, stable=True))
        return Candidates(self.draft_tokens[ids.gather(-1, order)], confidences.gather(-1, order).double())


def head_shape(checkpoint: HeadCheckpoint) -> LlamaShape:
    """The shape of a head's one decoder layer, from its config.json."""
    from transformers import LlamaConfig

    ours = (
        "bias",
        "eagle_viz",
        "eagle_config",
        "draft_vocab_size",
        "model_type",
        "norm_before_residual",
        *HARMLESS,
    )
    fields = {k: v for k, v in checkpoint.config.items() if k not in ours}
    try:
        return LlamaShape.of(LlamaConfig(**fields))
    except Exception as error:  # a wrong field raises whatever its check raises, some of it of classes that no module exports
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise HeadError(f"{checkpoint.source}: config.json is not a Llama configuration: {reason}") from error


def head_config(target: Target) -> dict:
    """config.json of a new head for this target: a Llama configuration with one layer."""
    config, heads = target.config, target.config.num_attention_heads
    rotary = getattr(config, "rope_parameters", None) or {}
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "num_hidden_layers": 1,
        "hidden_act": "silu",
        "vocab_size": target.vocabulary,
        "max_position_embeddings": config.max_position_embeddings,
        "rope_theta": rotary.get("rope_theta", 10000.0),
        "bias": True,
        "hidden_size": target.hidden,
        "intermediate_size": getattr(config, "intermediate_size", None) or 4 * target.hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": getattr(config, "num_key_value_heads", None) or heads,
        "head_dim": getattr(config, "head_dim", None) or target.hidden // heads,
        "rms_norm_eps": getattr(config, "rms_norm_eps", 1e-6),
    }


def random_checkpoint(target: Target, vocabulary: Tensor, seed: int) -> HeadCheckpoint:
    """An untrained head whose draft vocabulary is these target ids [D], ascending."""
    config, hidden = head_config(target), target.hidden
    inner, size = config["intermediate_size"], config["head_dim"]
    q, kv = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    generator = torch.Generator().manual_seed(seed)

    def matrix(rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=generator) / columns**0.5

    tensors = {
        "fc.weight": matrix(hidden, 2 * hidden),
        "fc.bias": torch.zeros(hidden),
        "layers.0.self_attn.q_proj.weight": matrix(q, hidden),
        "layers.0.self_attn.k_proj.weight": matrix(kv, hidden),
        "layers.0.self_attn.v_proj.weight": matrix(kv, hidden),
        "layers.0.self_attn.o_proj.weight": matrix(hidden, q),
        "layers.0.mlp.gate_proj.weight": matrix(inner, hidden),
        "layers.0.mlp.up_proj.weight": matrix(inner, hidden),
        "layers.0.mlp.down_proj.weight": matrix(hidden, inner),
        "layers.0.post_attention_layernorm.weight": torch.ones(hidden),
        "other.weight": torch.zeros(1, hidden),
        "other.bias": torch.zeros(1),
        "d2t": vocabulary - torch.arange(len(vocabulary)),
        "t2d": torch.zeros(target.vocabulary, dtype=torch.bool).index_fill(0, vocabulary, True),
    }
    return HeadCheckpoint(config, tensors, "random head")


def random_eagle3_checkpoint(target: Target, vocabulary: Tensor, seed: int) -> HeadCheckpoint:
    """An untrained EAGLE-3 head whose draft vocabulary is these target ids [D], ascending."""
    base = random_checkpoint(target, vocabulary, seed)
    hidden, generator = target.hidden, torch.Generator().manual_seed(seed)
    config = {k: v for k, v in base.config.items() if k != "bias"}
    config |= {"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": len(vocabulary)}
    layer = {k.replace("layers.0.", "midlayer."): t for k, t in base.tensors.items() if k.startswith("layers.0.")}
    wide = {f"midlayer.self_attn.{name}_proj.weight" for name in "qkv"}

    def matrix(rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=generator) / columns**0.5

    tensors = {k: matrix(len(t), 2 * hidden) if k in wide else t for k, t in layer.items()}
    tensors |= {f"midlayer.{name}.weight": torch.ones(hidden) for name in ("input_layernorm", "hidden_norm")}
    tensors |= {"fc.weight": matrix(hidden, 3 * hidden), "norm.weight": torch.ones(hidden)}
    tensors |= {"lm_head.weight": matrix(len(vocabulary), hidden)}
    tensors |= {key: base.tensors[key] for key in ("other.weight", "other.bias", "d2t", "t2d")}
    return HeadCheckpoint(config, tensors, "random EAGLE-3 head")


def eagle3_taps(layers: int) -> tuple[int, ...]:
    """The layers, of so many, whose entering hidden states an EAGLE-3 head reads: 2, the middle one, and the last but two.

    Raises HeadError for a target of too few layers. Of 30 layers:

    >>> eagle3_taps(30)
    (2, 15, 27)
    """
    taps = tuple(sorted({2, layers // 2, layers - 3}))
    if len(taps) < 3 or taps[0] < 0 or taps[-1] >= layers:
        raise HeadError(f"an EAGLE-3 head reads three different layers of its target, this one has {layers} layers in all")
    return taps


def _head_layer(checkpoint: HeadCheckpoint, shape: LlamaShape, target: Target, dtype: torch.dtype) -> HeadLayer:
    if not checkpoint.is_eagle3:
        return EagleLayer(shape, checkpoint.tensors, dtype)
    taps = _taps(checkpoint, target.config.num_hidden_layers)
    return Eagle3Layer(shape, checkpoint.tensors, dtype, taps, bool(checkpoint.config.get("norm_before_residual")))


def _taps(checkpoint: HeadCheckpoint, layers: int) -> tuple[int, ...]:
    """The layers that config.json names as vLLM does (`eagle_aux_hidden_state_layer_ids`), or the usual ones."""
    own = checkpoint.config.get("eagle_config") or {}
    if not isinstance(own, Mapping) or own.keys() - {"eagle_aux_hidden_state_layer_ids", "use_aux_hidden_state"}:
        raise HeadError(
            f"{checkpoint.source}: config.json field 'eagle_config' is {own!r}, allowed is eagle_aux_hidden_state_layer_ids"
        )
    if own.get("use_aux_hidden_state") is False:
        raise HeadError(f"{checkpoint.source}: use_aux_hidden_state is false, allowed is true: an EAGLE-3 head reads three layers")
    named = own.get("eagle_aux_hidden_state_layer_ids")
    if named is None:
        return eagle3_taps(layers)
    whole = isinstance(named, list) and all(type(layer) is int and 0 <= layer < layers for layer in named)
    if not whole or len(named) != 3 or sorted(set(named)) != named:
        allowed = f"three different layers from 0 to {layers - 1}, ascending"
        raise HeadError(f"{checkpoint.source}: eagle_aux_hidden_state_layer_ids is {named!r}, allowed is {allowed}")
    return tuple(named)


def _draft_lm_head(checkpoint: HeadCheckpoint, weight: Tensor) -> Linear:
    """The lm_head [D, H] with one more row for all tokens outside the draft vocabulary if the head has one."""
    if "other.weight" not in checkpoint.tensors:
        return Linear(weight)
    bias = torch.zeros(len(weight) + 1)
    bias[-1] = checkpoint.tensors["other.bias"].float()[0]
    return Linear(torch.cat([weight, checkpoint.tensors["other.weight"].float()]), bias)
