"""What a draft head's files may say: every config field and every tensor is used, known to be harmless, or refused by name.

Symbols: H hidden, V vocabulary, D draft vocabulary.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from eagle_viz.core.greedy import GreedyCalibration
from eagle_viz.engine.checkpoint import OTHER_ROW, HeadCheckpoint, HeadError

HARMLESS = {
    "_name_or_path": "where the file came from",
    "_attn_implementation": "how attention is computed, not what",
    "architectures": "the class in the publisher's code; the tensors say which kind of head it is",
    "attention_dropout": "training only",
    "auto_map": "names code that is not run",
    "bos_token_id": "a head starts no text",
    "eos_token_id": "the target ends the text",
    "pad_token_id": "nothing is padded",
    "dtype": "the tensors have a type of their own",
    "torch_dtype": "the tensors have a type of their own",
    "initializer_range": "training only",
    "max_window_layers": "says nothing without a sliding window",
    "tie_word_embeddings": "the tensors say which lm_head is the head's own",
    "transformers_version": "who wrote the file",
    "use_cache": "a cache is always used",
}
READ = (
    "bias",
    "draft_vocab_size",
    "eagle_config",
    "eagle_viz",
    "head_dim",
    "hidden_size",
    "intermediate_size",
    "max_position_embeddings",
    "num_attention_heads",
    "num_key_value_heads",
    "rms_norm_eps",
    "rope_theta",
    "target_hidden_size",
    "vocab_size",
)
ALLOWED: Mapping[str, tuple] = {
    "attention_bias": (False, True, None),
    "hidden_act": ("silu", None),
    "mlp_bias": (False, None),
    "model_type": ("llama", "mistral", "qwen2", None),
    "norm_before_residual": (False, True, None),
    "num_hidden_layers": (1, None),
    "pretraining_tp": (1, None),
    "qkv_bias": (False, True, None),
    "rope_scaling": (None,),
    "sliding_window": (None,),
    "use_sliding_window": (False, None),
}
"""Fields that change what a head computes, with the values that this forward computes."""
_BIASES = tuple(f"self_attn.{name}_proj.bias" for name in "qkv")
_OPTIONAL = ("d2t", "t2d", *OTHER_ROW, "embed_tokens.weight")


def check_head(checkpoint: HeadCheckpoint, hidden: int, vocabulary: int) -> None:
    """Raise HeadError unless every field and tensor is one that this package computes with, in the shape that it must have."""
    config = checkpoint.config
    if "transformer_layer_config" in config:
        raise HeadError(f"{checkpoint.source}: config.json is nested as vLLM's speculators write it, allowed is EAGLE's own layout")
    if config.get("hidden_size") != hidden:
        raise HeadError(f"{checkpoint.source}: hidden_size is {config.get('hidden_size')}, but the target's is {hidden}")
    if config.get("target_hidden_size") not in (None, hidden):
        width = config["target_hidden_size"]
        raise HeadError(f"{checkpoint.source}: target_hidden_size is {width!r}, allowed is the head's own hidden_size, {hidden}")
    for field, value in config.items():
        _check_field(checkpoint, field, value)
    if config.get("norm_before_residual") and not checkpoint.is_eagle3:
        raise HeadError(
            f"{checkpoint.source}: config.json field 'norm_before_residual' is True, allowed is False for EAGLE-1/2 heads"
        )
    for key in ("d2t", "t2d"):
        if key in checkpoint.tensors and checkpoint.tensors[key].dim() != 1:
            raise HeadError(f"{checkpoint.source}: key {key!r} has shape {list(checkpoint.tensors[key].shape)}, expected one axis")
    _check_calibration(checkpoint)
    _check_tensors(checkpoint, hidden, vocabulary)
    _check_vocabulary(checkpoint, vocabulary)


def draft_tokens(checkpoint: HeadCheckpoint, vocabulary: int) -> Tensor:
    """Target ids [D] of the draft vocabulary; without `d2t` it is the whole vocabulary."""
    if "d2t" not in checkpoint.tensors:
        return torch.arange(vocabulary)
    offsets = checkpoint.tensors["d2t"].long()
    return torch.arange(len(offsets)) + offsets


def _check_field(checkpoint: HeadCheckpoint, field: str, value: object) -> None:
    if field == "rope_parameters":
        return _check_rope(checkpoint, value)
    if field in ALLOWED and value not in ALLOWED[field]:
        allowed = " or ".join(repr(one) for one in ALLOWED[field] if one is not None) or "nothing"
        raise HeadError(f"{checkpoint.source}: config.json field {field!r} is {value!r}, allowed is {allowed}")
    if field not in ALLOWED and field not in READ and field not in HARMLESS:
        raise HeadError(
            f"{checkpoint.source}: config.json field {field!r} ({value!r}) is not known; what it changes cannot be told"
        )
    return None


def _check_rope(checkpoint: HeadCheckpoint, value: object) -> None:
    """Plain rotary embedding only, and one base, wherever it stands."""
    given = value if isinstance(value, Mapping) else {}
    extra = given.keys() - {"rope_type", "rope_theta"}
    if (value is not None and not isinstance(value, Mapping)) or given.get("rope_type", "default") != "default" or extra:
        raise HeadError(f"{checkpoint.source}: config.json field 'rope_parameters' is {value!r}, allowed is rope_type 'default'")
    base = checkpoint.config.get("rope_theta")
    if base is not None and given.get("rope_theta", base) != base:
        raise HeadError(f"{checkpoint.source}: config.json gives two rope_theta, {base} and {given['rope_theta']}")


def _check_calibration(checkpoint: HeadCheckpoint) -> None:
    own = checkpoint.config.get("eagle_viz", {})
    if not isinstance(own, Mapping) or own.keys() - {"temperatures", "greedy"}:
        allowed = "an object of temperatures and greedy"
        raise HeadError(f"{checkpoint.source}: config.json field 'eagle_viz' is {own!r}, allowed is {allowed}")
    if "greedy" in own:
        _check_greedy(checkpoint.source, own["greedy"])
    if "temperatures" not in own:
        return
    given = own["temperatures"]
    numbers = isinstance(given, (list, tuple)) and all(type(t) in (int, float) for t in given)
    if not numbers or not given or not all(0 < t < math.inf for t in given):
        raise HeadError(f"{checkpoint.source}: temperatures is {given!r}, allowed is a list of one or more numbers above 0")


def _check_greedy(source: str, given: object) -> None:
    try:
        GreedyCalibration.from_json(given)
    except ValueError as error:
        raise HeadError(f"{source}: config.json field 'eagle_viz': {error}") from error


def _check_tensors(checkpoint: HeadCheckpoint, hidden: int, vocabulary: int) -> None:
    needed = _needed_shapes(checkpoint, hidden)
    known = needed | _optional_shapes(checkpoint, hidden, vocabulary)
    for key, shape in needed.items():
        if key not in checkpoint.tensors:
            raise HeadError(f"{checkpoint.source}: key {key!r} is missing, expected shape {list(shape)}")
    for key, tensor in checkpoint.tensors.items():
        if key not in known:
            raise HeadError(f"{checkpoint.source}: key {key!r} is not part of an {checkpoint.kind} head; it would be left out")
        if tuple(tensor.shape) != known[key]:
            raise HeadError(f"{checkpoint.source}: key {key!r} has shape {list(tensor.shape)}, expected {list(known[key])}")
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise HeadError(f"{checkpoint.source}: key {key!r} holds values that are not finite numbers")
    _check_together(checkpoint, OTHER_ROW)
    _check_together(checkpoint, tuple(f"{checkpoint.layer}.{name}" for name in _BIASES))


def _check_together(checkpoint: HeadCheckpoint, keys: tuple[str, ...]) -> None:
    given = [key for key in keys if key in checkpoint.tensors]
    if given and len(given) < len(keys):
        missing = next(key for key in keys if key not in checkpoint.tensors)
        raise HeadError(f"{checkpoint.source}: key {given[0]!r} is there without {missing!r}")


def _needed_shapes(checkpoint: HeadCheckpoint, hidden: int) -> dict[str, tuple[int, ...]]:
    config, three = checkpoint.config, checkpoint.is_eagle3
    read = 2 * hidden if three else hidden
    shapes = {f"{checkpoint.layer}.{name}": shape for name, shape in _layer_shapes(config, hidden, read).items()}
    shapes |= {"fc.weight": (hidden, (3 if three else 2) * hidden)}
    biased = config.get("attention_bias") or config.get("qkv_bias")
    shapes |= _bias_shapes(checkpoint, hidden) if biased else {}
    if not three:
        return shapes | ({"fc.bias": (hidden,)} if config.get("bias") else {})
    shapes |= {f"midlayer.{name}.weight": (hidden,) for name in ("input_layernorm", "hidden_norm")}
    size = _draft_vocabulary_size(checkpoint)
    return shapes | {"norm.weight": (hidden,), "lm_head.weight": (size, hidden)}


def _optional_shapes(checkpoint: HeadCheckpoint, hidden: int, vocabulary: int) -> dict[str, tuple[int, ...]]:
    """Tensors that are used where they are there."""
    config, size = checkpoint.config, len(checkpoint.tensors.get("d2t", ()))
    shapes = dict(zip(_OPTIONAL, ((size,), (vocabulary,), (1, hidden), (1,), (vocabulary, hidden)), strict=True))
    if not checkpoint.is_eagle3:
        shapes |= {"lm_head.weight": (size or vocabulary, hidden)}
        shapes |= {"fc.bias": (hidden,)} if config.get("bias") is not False else {}
    silent = config.get("attention_bias") is False or config.get("qkv_bias") is False
    return shapes if silent else shapes | _bias_shapes(checkpoint, hidden)


def _bias_shapes(checkpoint: HeadCheckpoint, hidden: int) -> dict[str, tuple[int, ...]]:
    rows = _layer_shapes(checkpoint.config, hidden, hidden)
    return {f"{checkpoint.layer}.{name}": rows[name.replace("bias", "weight")][:1] for name in _BIASES}


def _draft_vocabulary_size(checkpoint: HeadCheckpoint) -> int:
    """D of an EAGLE-3 head: as many as `d2t` names, or the whole vocabulary that config.json names."""
    return len(checkpoint.tensors["d2t"]) if "d2t" in checkpoint.tensors else _number(checkpoint.config, "vocab_size")


def _layer_shapes(config: Mapping, hidden: int, read: int) -> dict[str, tuple[int, ...]]:
    """Shapes of a decoder layer whose attention reads `read` columns."""
    heads, inner = _number(config, "num_attention_heads"), _number(config, "intermediate_size")
    size = _number(config, "head_dim") if config.get("head_dim") is not None else hidden // heads
    kv = size * (_number(config, "num_key_value_heads") if config.get("num_key_value_heads") is not None else heads)
    return {
        "self_attn.q_proj.weight": (heads * size, read),
        "self_attn.k_proj.weight": (kv, read),
        "self_attn.v_proj.weight": (kv, read),
        "self_attn.o_proj.weight": (hidden, heads * size),
        "mlp.gate_proj.weight": (inner, hidden),
        "mlp.up_proj.weight": (inner, hidden),
        "mlp.down_proj.weight": (hidden, inner),
        "post_attention_layernorm.weight": (hidden,),
    }


def _number(config: Mapping, field: str) -> int:
    if field not in config:
        raise HeadError(f"config.json of the head has no field {field!r}")
    value = config[field]
    if type(value) is not int or value < 1:
        raise HeadError(f"config.json of the head: {field} is {value!r}, allowed is a whole number from 1 on")
    return value


def _check_vocabulary(checkpoint: HeadCheckpoint, vocabulary: int) -> None:
    said = checkpoint.config.get("vocab_size")
    if said is not None and said != vocabulary:
        raise HeadError(f"{checkpoint.source}: vocab_size is {said}, but the target's is {vocabulary}")
    tokens = draft_tokens(checkpoint, vocabulary)
    size = checkpoint.config.get("draft_vocab_size")
    if size is not None and size != len(tokens):
        raise HeadError(f"{checkpoint.source}: draft_vocab_size is {size}, but the draft vocabulary has {len(tokens)} tokens")
    if "d2t" not in checkpoint.tensors:
        if "t2d" in checkpoint.tensors and not checkpoint.tensors["t2d"].bool().all():
            raise HeadError(
                f"{checkpoint.source}: key 't2d' leaves tokens out, but 'd2t', which says which draft id they have, is missing"
            )
        return
    if checkpoint.tensors["d2t"].is_floating_point():
        raise HeadError(f"{checkpoint.source}: key 'd2t' holds {checkpoint.tensors['d2t'].dtype}, allowed are whole numbers")
    if len(tokens) == 0 or tokens.min() < 0 or tokens.max() >= vocabulary or len(tokens.unique()) < len(tokens):
        raise HeadError(f"{checkpoint.source}: key 'd2t' must name different token ids in 0..{vocabulary - 1}")
    if "t2d" in checkpoint.tensors:
        if not torch.equal(checkpoint.tensors["t2d"].bool().nonzero().flatten(), tokens.sort().values):
            raise HeadError(f"{checkpoint.source}: keys 'd2t' (offsets: target id - draft id) and 't2d' name different tokens")
    elif len(tokens) > 1 and (checkpoint.tensors["d2t"].diff() >= 1).all():
        # Offsets of ascending ids repeat wherever two ids are neighbours; offsets that always grow are ids themselves.
        raise HeadError(f"{checkpoint.source}: key 'd2t' looks like token ids; it must hold offsets, target id - draft id")
