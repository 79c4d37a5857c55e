"""Heads and targets that are not what they should be: drafted with as they say, or refused in one sentence."""

import json
import shutil

import hypothesis
import numpy as np
import pytest
import torch
from hypothesis import strategies as st
from safetensors.torch import save_file

from eagle_viz import POLICIES
from eagle_viz.engine.drafted import HeadDrafter, OracleDrafter
from eagle_viz.engine.generation import generate
from eagle_viz.engine.head import Head, random_checkpoint, random_eagle3_checkpoint
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target
from tests.engine.tiny import hf_greedy, tiny_llama, tiny_tokenizer
from tests.fuzz.strategies import JSON, altered, check_sentence, damaged, examples

pytestmark = pytest.mark.fuzz

PROMPT = [7, 9, 33, 12]
CONTEST = {"eagle2": (POLICIES["eagle2"](top_k=3, max_depth=2), 5)}
DTYPES = (torch.float16, torch.float64, torch.int64, torch.bool)


def answer(target, drafter) -> list[int]:
    """Six greedy tokens, drafted; every confidence on the way is a probability."""
    run = generate(target, drafter, PROMPT, CONTEST, Settings(6))
    for cycle in run:
        for row in cycle.landscape.candidates.values():
            assert np.isfinite(row.confidences).all() and 0 <= row.confidences.min() <= row.confidences.sum() <= 1 + 1e-6
    return run.tokens


@pytest.fixture(scope="module")
def heads(tiny_target):
    vocabulary = torch.arange(0, 96, 3)
    return random_checkpoint(tiny_target, vocabulary, seed=3), random_eagle3_checkpoint(tiny_target, vocabulary, seed=3)


FIELDS = (
    *("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size"),
    *("vocab_size", "draft_vocab_size", "max_position_embeddings", "rms_norm_eps", "rope_theta", "rope_scaling", "rope_parameters"),
    *("hidden_act", "bias", "qkv_bias", "attention_bias", "mlp_bias", "sliding_window", "architectures", "model_type", "eagle_viz"),
    *("tie_word_embeddings", "torch_dtype", "eagle_config", "transformer_layer_config", "temperatures"),
)


@st.composite
def odd_tensor(draw, tensor):
    """The tensor with another type or shape, cut, doubled, or with one number that is none."""
    kind = draw(st.sampled_from(["type", "flat", "cut", "more", "number", "scalar", "empty"]))
    if kind == "type":
        return tensor.to(draw(st.sampled_from(DTYPES)))
    if kind == "number" and tensor.numel():
        odd = tensor.clone().flatten()
        value = draw(st.sampled_from([float("nan"), float("inf"), 1e30, -1.0]))
        odd[draw(st.integers(0, len(odd) - 1))] = value if odd.is_floating_point() else draw(st.integers(-5, 200))
        return odd.reshape(tensor.shape)
    rows = tensor if tensor.dim() else tensor[None]
    changes = {"flat": tensor.flatten(), "cut": rows[:-1], "more": torch.cat([rows, rows]), "empty": rows[:0]}
    return changes.get(kind, torch.zeros(())).clone()


@st.composite
def odd_head(draw, checkpoint):
    """Config and tensors of a head with one to three things changed, added or taken out."""
    config, tensors = dict(checkpoint.config), dict(checkpoint.tensors)
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["field", "field", "without", "tensor", "tensor", "missing", "extra"]))
        if kind == "field":
            config[draw(st.sampled_from(FIELDS) | st.text(max_size=6))] = draw(JSON)
        elif kind == "without" and config:
            del config[draw(st.sampled_from(sorted(config)))]
        elif kind == "tensor" and tensors:
            key = draw(st.sampled_from(sorted(tensors)))
            tensors[key] = draw(odd_tensor(tensors[key]))
        elif kind == "missing" and tensors:
            del tensors[draw(st.sampled_from(sorted(tensors)))]
        else:
            tensors[draw(st.sampled_from(["fc2.weight", "layers.1.mlp.up_proj.weight", "norm.weight", "t2d"]))] = torch.zeros(32)
    return config, tensors


def check_head(folder, target) -> None:
    """A head is refused in one sentence, or every confidence it gives is a probability and the text is the target's own."""
    try:
        head = Head.load(folder, target)
        found = answer(target, HeadDrafter(head, 4))
    except ValueError as error:
        check_sentence(error)
    else:
        assert found == answer(target, OracleDrafter(target, 4))


@examples(0.3)
@hypothesis.given(data=st.data())
def test_malformed_heads(heads, tiny_target, tmp_path_factory, data):
    """Any field and any tensor of either kind of head."""
    config, tensors = data.draw(odd_head(data.draw(st.sampled_from(heads))))
    folder = tmp_path_factory.mktemp("head")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8", errors="replace")
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors")
    check_head(folder, tiny_target)
    shutil.rmtree(folder)


@examples(0.1)
@hypothesis.given(data=st.data())
def test_damaged_heads(heads, tiny_target, tmp_path_factory, data):
    """Bytes of either file damaged, or a file of another kind in its place."""
    folder = tmp_path_factory.mktemp("head")
    data.draw(st.sampled_from(heads))
    Head(heads[0], tiny_target).save(folder)
    path = folder / data.draw(st.sampled_from(["config.json", "model.safetensors"]))
    path.write_bytes(data.draw(damaged(path.read_bytes()) | st.binary(max_size=40)))
    if data.draw(st.booleans()):
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    check_head(folder, tiny_target)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("target")
    tiny_llama().save_pretrained(place)
    tiny_tokenizer().save_pretrained(place)
    return place


@examples(0.05)
@hypothesis.given(data=st.data())
def test_malformed_targets(folder, tmp_path_factory, data):
    """Any JSON file of a model folder altered, any file damaged: refused in one sentence, or drafted as Hugging Face decodes."""
    place = tmp_path_factory.mktemp("odd") / "target"
    shutil.copytree(folder, place)
    path = data.draw(st.sampled_from(sorted(place.iterdir())))
    if path.suffix == ".json" and data.draw(st.booleans()):
        path.write_text(json.dumps(data.draw(altered(json.loads(path.read_text())))), encoding="utf-8", errors="replace")
    else:
        path.write_bytes(data.draw(damaged(path.read_bytes())))
    try:
        target = Target.load(place)
        found = answer(target, OracleDrafter(target, 4))
    except ValueError as error:
        check_sentence(error)
    else:
        assert 1 <= len(found) <= 6 and all(0 <= token < target.vocabulary for token in found)
        if path.name not in ("config.json", "generation_config.json", "model.safetensors"):
            assert found[:1] == hf_greedy(tiny_llama(), PROMPT, 1)
    shutil.rmtree(place)
