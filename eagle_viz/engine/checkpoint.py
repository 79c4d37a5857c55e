"""Reading and writing draft heads in the public EAGLE-1/2 and EAGLE-3 formats: config.json beside one file of weights.

EAGLE-1/2 keys (H hidden, V vocabulary, D draft vocabulary): `fc.weight` [H, 2H], `fc.bias` [H] unless the config says
`"bias": false`, `layers.0.*` of a Llama decoder layer without `input_layernorm`.
EAGLE-3 keys: `fc.weight` [H, 3H] without a bias, `midlayer.*` of a decoder layer whose q, k and v read 2H columns (the embedding
through `input_layernorm`, the state through `hidden_norm`), `norm.weight` [H], `lm_head.weight` [D, H]. Ours add
`d2t` [D] (an offset: target id = draft id + d2t[draft id]), `t2d` [V], and `other.weight` [1, H] with `other.bias` [1]: one more
row of the lm_head that stands for every token outside the draft vocabulary. `embed_tokens.weight` is the target's and left out.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")


class HeadError(ValueError):
    """A draft head that cannot be used; the message names the file, the key and the shape."""


@dataclass(frozen=True)
class HeadCheckpoint:
    """A head as it lies on disk: config.json's content and the tensors by name."""

    config: Mapping
    tensors: Mapping[str, Tensor]
    source: str = "head"

    @property
    def is_eagle3(self) -> bool:
        """Whether the tensors are an EAGLE-3 head's: its layer is called `midlayer`."""
        return any(name.startswith("midlayer.") for name in self.tensors)

    @property
    def temperatures(self) -> tuple[float, ...]:
        """Calibration: what the draft logits are divided by, per depth from 1 on; the last one goes on."""
        return tuple(self.config.get("eagle_viz", {}).get("temperatures", (1.0,)))


def read_head(folder: str | Path) -> HeadCheckpoint:
    """Read a head from a folder with config.json and model.safetensors or pytorch_model.bin.

    Raises HeadError, which names what is missing or broken.
    """
    folder = Path(folder).expanduser()
    config = _read_config(folder / "config.json")
    for name in WEIGHT_FILES:
        if (folder / name).is_file():
            return HeadCheckpoint(config, _read_tensors(folder / name), str(folder / name))
    raise HeadError(f"head {str(folder)!r} has no weights: expected {' or '.join(WEIGHT_FILES)}")


def write_head(folder: str | Path, checkpoint: HeadCheckpoint, dtype: torch.dtype = torch.float16) -> None:
    """Write config.json and model.safetensors, floating tensors as `dtype`; existing files are replaced whole."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: (t.to(dtype) if t.is_floating_point() else t).contiguous() for name, t in checkpoint.tensors.items()}
    save_file(tensors, folder / "model.safetensors.partial", metadata={"format": "pt"})
    (folder / "config.json.partial").write_text(json.dumps(dict(checkpoint.config), indent=2) + "\n")
    for name in ("model.safetensors", "config.json"):
        os.replace(folder / f"{name}.partial", folder / name)


def tensor_digest(tensors: Mapping[str, Tensor]) -> str:
    """A short name of exactly these tensors, as float32."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode() + tensors[name].detach().float().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def check_head(checkpoint: HeadCheckpoint, hidden: int, vocabulary: int) -> None:
    """Raise HeadError unless every tensor is there, in the shape that config.json and the target ask for."""
    if checkpoint.config.get("hidden_size") != hidden:
        raise HeadError(f"{checkpoint.source}: hidden_size is {checkpoint.config.get('hidden_size')}, but the target's is {hidden}")
    for key, shape in _expected_shapes(checkpoint, hidden).items():
        if key not in checkpoint.tensors:
            raise HeadError(f"{checkpoint.source}: key {key!r} is missing, expected shape {list(shape)}")
        found = tuple(checkpoint.tensors[key].shape)
        if found != shape:
            raise HeadError(f"{checkpoint.source}: key {key!r} has shape {list(found)}, expected {list(shape)}")
    _check_vocabulary(checkpoint, vocabulary)


def draft_tokens(checkpoint: HeadCheckpoint, vocabulary: int) -> Tensor:
    """Target ids [D] of the draft vocabulary; without `d2t` it is the whole vocabulary."""
    if "d2t" not in checkpoint.tensors:
        return torch.arange(vocabulary)
    offsets = checkpoint.tensors["d2t"].long()
    return torch.arange(len(offsets)) + offsets


def _check_vocabulary(checkpoint: HeadCheckpoint, vocabulary: int) -> None:
    tokens = draft_tokens(checkpoint, vocabulary)
    if tokens.min() < 0 or tokens.max() >= vocabulary or len(tokens.unique()) < len(tokens):
        raise HeadError(f"{checkpoint.source}: key 'd2t' must name different token ids in 0..{vocabulary - 1}")


def _expected_shapes(checkpoint: HeadCheckpoint, hidden: int) -> dict[str, tuple[int, ...]]:
    config = checkpoint.config
    if not checkpoint.is_eagle3:
        shapes = {f"layers.0.{name}": shape for name, shape in _layer_shapes(config, hidden, hidden).items()}
        shapes |= {"fc.weight": (hidden, 2 * hidden)}
        return shapes if config.get("bias") is False else shapes | {"fc.bias": (hidden,)}
    shapes = {f"midlayer.{name}": shape for name, shape in _layer_shapes(config, hidden, 2 * hidden).items()}
    shapes |= {f"midlayer.{name}.weight": (hidden,) for name in ("input_layernorm", "hidden_norm")}
    size = _draft_vocabulary_size(checkpoint)
    return shapes | {"fc.weight": (hidden, 3 * hidden), "norm.weight": (hidden,), "lm_head.weight": (size, hidden)}


def _draft_vocabulary_size(checkpoint: HeadCheckpoint) -> int:
    """D of an EAGLE-3 head: as many as `d2t` names, or the whole vocabulary that config.json names."""
    if "d2t" in checkpoint.tensors:
        return len(checkpoint.tensors["d2t"])
    try:
        return checkpoint.config["vocab_size"]
    except KeyError as missing:
        raise HeadError(f"config.json of the head has no field {missing}") from missing


def _layer_shapes(config: Mapping, hidden: int, read: int) -> dict[str, tuple[int, ...]]:
    """Shapes of a decoder layer whose attention reads `read` columns."""
    try:
        heads, inner = config["num_attention_heads"], config["intermediate_size"]
    except KeyError as missing:
        raise HeadError(f"config.json of the head has no field {missing}") from missing
    size = config.get("head_dim") or hidden // heads
    q, kv = heads * size, (config.get("num_key_value_heads") or heads) * size
    return {
        "self_attn.q_proj.weight": (q, read),
        "self_attn.k_proj.weight": (kv, read),
        "self_attn.v_proj.weight": (kv, read),
        "self_attn.o_proj.weight": (hidden, q),
        "mlp.gate_proj.weight": (inner, hidden),
        "mlp.up_proj.weight": (inner, hidden),
        "mlp.down_proj.weight": (hidden, inner),
        "post_attention_layernorm.weight": (hidden,),
    }


def _read_config(path: Path) -> dict:
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise HeadError(f"head config {str(path)!r} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise HeadError(f"head config {str(path)!r} is not JSON: {error}") from error


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        return torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, SafetensorError, UnpicklingError, RuntimeError, ValueError, EOFError) as error:
        raise HeadError(f"head weights {str(path)!r} cannot be read: {str(error).splitlines()[0]}") from error
