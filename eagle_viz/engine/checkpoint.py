"""Reading and writing draft heads in the public EAGLE-1/2 and EAGLE-3 formats: config.json beside one file of weights.

EAGLE-1/2 keys (H hidden, V vocabulary, D draft vocabulary): `fc.weight` [H, 2H], `fc.bias` [H] unless the config says
`"bias": false`, `layers.0.*` of a Llama decoder layer without `input_layernorm`.
EAGLE-3 keys: `fc.weight` [H, 3H] without a bias, `midlayer.*` of a decoder layer whose q, k and v read 2H columns (the embedding
through `input_layernorm`, the state through `hidden_norm`), `norm.weight` [H], `lm_head.weight` [D, H]. Both may add
`d2t` [D] (an offset: target id = draft id + d2t[draft id]) and `t2d` [V]; `embed_tokens.weight` is the target's and left out.
Ours alone add `other.weight` [1, H] with `other.bias` [1]: one more row of the lm_head that stands for every token outside the
draft vocabulary. In an EAGLE-3 head's files that row lies in config.json, as `eagle_viz.other`, since engines refuse tensors
that they do not know.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from eagle_viz.core.greedy import GreedyCalibration

WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")
OTHER_ROW = ("other.weight", "other.bias")
_FLAT_LIST = re.compile(r"\[[^\[\]{}]*\]")


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
    def kind(self) -> str:
        """The kind of head, for people."""
        return "EAGLE-3" if self.is_eagle3 else "EAGLE-1/2"

    @property
    def layer(self) -> str:
        """The prefix of the decoder layer's tensors."""
        return "midlayer" if self.is_eagle3 else "layers.0"

    @property
    def temperatures(self) -> tuple[float, ...]:
        """Calibration: what the draft logits are divided by, per depth from 1 on; the last one goes on."""
        return tuple(self.config.get("eagle_viz", {}).get("temperatures", (1.0,)))

    @property
    def greedy(self) -> GreedyCalibration | None:
        """What the confidences say of greedy decoding, where that was fitted."""
        given = self.config.get("eagle_viz", {}).get("greedy")
        return None if given is None else GreedyCalibration.from_json(given)


def read_head(folder: str | Path) -> HeadCheckpoint:
    """Read a head from a folder with config.json and model.safetensors or pytorch_model.bin, whole or in shards (index.json).

    Raises HeadError, which names what is missing or broken.
    """
    folder = Path(folder).expanduser()
    config = _read_config(folder / "config.json")
    for name in WEIGHT_FILES:
        if (folder / name).is_file():
            return _with_other_row(HeadCheckpoint(config, _read_tensors(folder / name), str(folder / name)))
        index = folder / f"{name}.index.json"
        if index.is_file():
            return _with_other_row(HeadCheckpoint(config, _read_shards(index), str(index)))
    raise HeadError(f"head {str(folder)!r} has no weights: expected {' or '.join(WEIGHT_FILES)}")


def write_head(folder: str | Path, checkpoint: HeadCheckpoint, dtype: torch.dtype = torch.float16) -> None:
    """Write config.json and model.safetensors, floating tensors as `dtype`; existing files are replaced whole."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint = _without_other_row(checkpoint) if checkpoint.is_eagle3 else checkpoint
    tensors = {name: (t.to(dtype) if t.is_floating_point() else t).contiguous() for name, t in checkpoint.tensors.items()}
    save_file(tensors, folder / "model.safetensors.partial", metadata={"format": "pt"})
    config = json.dumps(dict(checkpoint.config), indent=2)
    (folder / "config.json.partial").write_text(_FLAT_LIST.sub(lambda found: " ".join(found.group().split()), config) + "\n")
    for name in ("model.safetensors", "config.json"):
        os.replace(folder / f"{name}.partial", folder / name)


def _without_other_row(checkpoint: HeadCheckpoint) -> HeadCheckpoint:
    """The same head with the row for all other tokens in its config, to six decimals, and not among its tensors."""
    tensors = dict(checkpoint.tensors)
    if "other.weight" not in tensors:
        return checkpoint
    weight, bias = (tensors.pop(key).float().flatten().tolist() for key in OTHER_ROW)
    row = {"weight": [round(number, 6) for number in weight], "bias": round(bias[0], 6)}
    own = {**checkpoint.config.get("eagle_viz", {}), "other": row}
    return HeadCheckpoint({**checkpoint.config, "eagle_viz": own}, tensors, checkpoint.source)


def _with_other_row(checkpoint: HeadCheckpoint) -> HeadCheckpoint:
    """The other way; raises HeadError for a row that is not one, or that stands in both files."""
    own = checkpoint.config.get("eagle_viz")
    if not isinstance(own, dict) or "other" not in own:
        return checkpoint
    row, source = own["other"], checkpoint.source
    if not isinstance(row, dict) or row.keys() != {"weight", "bias"} or not isinstance(row["weight"], list):
        raise HeadError(f"{source}: config.json field 'eagle_viz.other' is {row!r:.200}, allowed is a weight (a list) and a bias")
    if not all(type(number) in (int, float) for number in (*row["weight"], row["bias"])):
        raise HeadError(f"{source}: config.json field 'eagle_viz.other' holds something else than numbers")
    if "other.weight" in checkpoint.tensors:
        raise HeadError(f"{source}: the row for other tokens stands in config.json ('eagle_viz.other') and as key 'other.weight'")
    tensors = {"other.weight": torch.tensor([row["weight"]]).float(), "other.bias": torch.tensor([row["bias"]]).float()}
    rest = {key: value for key, value in own.items() if key != "other"}
    config = {key: value for key, value in checkpoint.config.items() if key != "eagle_viz"} | ({"eagle_viz": rest} if rest else {})
    return HeadCheckpoint(config, {**checkpoint.tensors, **tensors}, source)


def tensor_digest(tensors: Mapping[str, Tensor]) -> str:
    """A short name of exactly these tensors, as float32."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode() + tensors[name].detach().float().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def _read_config(path: Path) -> dict:
    try:
        config = json.loads(path.read_text())
    except OSError as error:
        raise HeadError(f"head config {str(path)!r} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise HeadError(f"head config {str(path)!r} is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise HeadError(f"head config {str(path)!r} holds {type(config).__name__}, allowed is a JSON object")
    return config


def _read_shards(index: Path) -> dict[str, Tensor]:
    """All tensors that an index names, from the files beside it."""
    named = _read_config(index).get("weight_map")
    if not isinstance(named, dict) or not all(isinstance(name, str) and Path(name).name == name for name in named.values()):
        raise HeadError(f"head index {str(index)!r} has no weight_map from tensor names to files beside it")
    found = {}
    for name in sorted(set(named.values())):
        found |= _read_tensors(index.parent / name)
    missing = sorted(named.keys() - found.keys())
    if missing:
        raise HeadError(f"head index {str(index)!r} names {missing[0]!r}, which is in none of its files")
    return found


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # the restricted unpickler meets broken bytes with whatever Python raises there
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise HeadError(f"head weights {str(path)!r} cannot be read: {reason}") from error
    if not isinstance(found, dict) or not all(isinstance(k, str) and isinstance(t, Tensor) for k, t in found.items()):
        raise HeadError(f"head weights {str(path)!r} hold something else than tensors by name")
    return found
