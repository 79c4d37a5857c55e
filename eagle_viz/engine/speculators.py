"""EAGLE-3 heads as vLLM's speculators write them, turned into the layout that EAGLE publishes.

There config.json nests the layer's fields in `transformer_layer_config` (defaults left out), the layer's tensors are called
`layers.0.*`, and `norm_before_residual` may be true. Source: vllm-project/speculators 11ecdd3, models/eagle3/config.py and
model_definitions.py; vllm-project/vllm 00bd149, models/llama_eagle3.py.
"""

from collections.abc import Mapping
from dataclasses import replace

from eagle_viz.engine.checkpoint import HeadCheckpoint, HeadError

NESTED = "transformer_layer_config"
LAYER_IDS = "eagle_aux_hidden_state_layer_ids"
SILENT = {
    "embed_requires_grad": "training only",
    "enable_sp_ulysses": "how training was spread over devices",
    "speculators_config": "how many tokens an engine drafts and for which target; here a policy says that",
    "speculators_model_type": "read here: which kind of head it is",
    "speculators_version": "who wrote the file",
    "target_hidden_size": "read here: must be the head's own hidden size",
}
"""Fields of the outer object that say nothing about what the head computes."""
OUTER = frozenset({"architectures", "dtype", "model_type", "torch_dtype", "transformers_version", "auto_map"})
"""Fields that describe the outer object itself, whatever the nested one says under the same name."""
LLAMA_DEFAULTS = {"hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32, "vocab_size": 32000}
"""What a Llama configuration leaves out when it is written as its difference to the defaults."""


def published(checkpoint: HeadCheckpoint) -> HeadCheckpoint:
    """The same head in EAGLE's own layout; a head that has it already comes back as it is.

    Raises HeadError for another kind of speculator, and for fields that are missing or contradict each other.

    >>> published(HeadCheckpoint({"hidden_size": 32}, {})).config
    {'hidden_size': 32}
    """
    config = checkpoint.config
    if NESTED not in config and "speculators_model_type" not in config:
        return checkpoint
    kind = config.get("speculators_model_type")
    if kind != "eagle3":
        raise HeadError(f"{checkpoint.source}: speculators_model_type is {kind!r}, allowed is 'eagle3'")
    tensors = {_plain_name(name): tensor for name, tensor in checkpoint.tensors.items()}
    if len(tensors) < len(checkpoint.tensors):
        raise HeadError(f"{checkpoint.source}: the layer's tensors are there twice, as 'midlayer' and as 'layers.0'")
    return replace(checkpoint, config=_flat(config, checkpoint.source), tensors=tensors)


def _plain_name(name: str) -> str:
    return f"midlayer.{name.removeprefix('layers.0.')}" if name.startswith("layers.0.") else name


def _flat(config: Mapping, source: str) -> dict:
    """One level of fields; what stands in both places must agree."""
    nested = config.get(NESTED)
    if not isinstance(nested, Mapping):
        raise HeadError(f"{source}: config.json field {NESTED!r} is {nested!r}, allowed is an object")
    if type(config.get("norm_before_residual")) is not bool:
        # speculators take a missing field as false, vLLM as true.
        raise HeadError(f"{source}: norm_before_residual is {config.get('norm_before_residual')!r}, allowed is true or false")
    layer = LLAMA_DEFAULTS | dict(nested)
    width = config.get("target_hidden_size")
    if width not in (None, layer["hidden_size"]):
        raise HeadError(f"{source}: target_hidden_size is {width!r}, allowed is the head's hidden_size, {layer['hidden_size']}")
    outer = {field: value for field, value in config.items() if field not in OUTER | SILENT.keys() | {NESTED, LAYER_IDS}}
    for field in sorted(outer.keys() & nested.keys()):
        if outer[field] != nested[field]:
            raise HeadError(f"{source}: config.json gives two {field}, {outer[field]!r} and {nested[field]!r}")
    named = config.get(LAYER_IDS)
    return layer | outer | ({} if named is None else {"eagle_config": {LAYER_IDS: named}})
