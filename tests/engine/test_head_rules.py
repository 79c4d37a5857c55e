"""What changes a head is used or refused, never ignored: walked over every config field and every tensor."""

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file

from eagle_viz.engine.checkpoint import HeadCheckpoint, HeadError, read_head
from eagle_viz.engine.head import Head, random_checkpoint, random_eagle3_checkpoint
from eagle_viz.engine.head_rules import ALLOWED, HARMLESS, READ

TOKENS = [4, 9, 33, 70, 12]
VOCABULARY = torch.arange(0, 96, 3)


@pytest.fixture(scope="module", params=["EAGLE-1/2", "EAGLE-3"])
def checkpoint(request, tiny_target) -> HeadCheckpoint:
    make = random_checkpoint if request.param == "EAGLE-1/2" else random_eagle3_checkpoint
    return make(tiny_target, VOCABULARY, seed=3)


def said(checkpoint: HeadCheckpoint, target) -> torch.Tensor:
    """Confidences after a chain of five tokens: what every change of the head must show up in."""
    head = Head(checkpoint, target)
    read = target.forward([7, *TOKENS[:-1]], taps=head.taps).read
    return head.probabilities(head.forward(TOKENS, head.fuse(read)), [1] * len(TOKENS))


def changed(checkpoint: HeadCheckpoint, config: dict | None = None, **tensors) -> HeadCheckpoint:
    """The checkpoint with these fields and tensors; a tensor that is None is taken out."""
    named = {key.replace("__", "."): tensor for key, tensor in tensors.items()}
    kept = {k: t for k, t in (dict(checkpoint.tensors) | named).items() if t is not None}
    return HeadCheckpoint(dict(checkpoint.config) | (config or {}), kept, "some/model.safetensors")


def refused(checkpoint: HeadCheckpoint, target, *words: str) -> None:
    with pytest.raises(HeadError) as raised:
        Head(checkpoint, target)
    assert all(word in str(raised.value) for word in words), raised.value
    assert "\n" not in str(raised.value)


def test_every_tensor_changes_what_the_head_says_or_is_an_index(checkpoint, tiny_target):
    """Walk all keys: another value is seen in the confidences; the row for other tokens and the draft vocabulary too."""
    before = said(checkpoint, tiny_target)
    for key, tensor in checkpoint.tensors.items():
        if key in ("d2t", "t2d"):
            continue
        generator = torch.Generator().manual_seed(5)
        moved = tensor + 0.5 * torch.randn(tensor.shape, generator=generator)
        other = replace(checkpoint, tensors=dict(checkpoint.tensors) | {key: moved})
        assert (said(other, tiny_target) - before).abs().max() > 1e-5, key


def test_every_tensor_that_is_not_finite_is_named(checkpoint, tiny_target):
    for key, tensor in checkpoint.tensors.items():
        if tensor.is_floating_point():
            broken = tensor.clone()
            broken.flatten()[0] = float("nan")
            refused(replace(checkpoint, tensors=dict(checkpoint.tensors) | {key: broken}), tiny_target, key, "not finite")


def test_a_tensor_that_no_head_has_is_named(checkpoint, tiny_target):
    for key in ("layers.1.mlp.up_proj.weight", "hidden_norm.weight", "fc2.weight", f"{checkpoint.layer}.self_attn.o_proj.bias"):
        extra = replace(checkpoint, tensors=dict(checkpoint.tensors) | {key: torch.zeros(32)})
        refused(extra, tiny_target, key, "not part of")


def test_an_input_norm_is_no_part_of_an_eagle_1_layer(tiny_target):
    head = random_checkpoint(tiny_target, VOCABULARY, seed=3)
    refused(changed(head, layers__0__input_layernorm__weight=torch.ones(32)), tiny_target, "input_layernorm", "not part of")
    refused(changed(head, norm__weight=torch.ones(32)), tiny_target, "norm.weight", "not part of")


def test_biases_of_query_key_and_value_are_used(checkpoint, tiny_target):
    """With a bias on the values alone, the attention's output moves by the o_proj of that bias, as a hand computation has it."""
    layer, tensors = checkpoint.layer, checkpoint.tensors
    rows = {name: len(tensors[f"{layer}.self_attn.{name}_proj.weight"]) for name in "qkv"}
    biases = {f"{layer}.self_attn.{name}_proj.bias": torch.zeros(size) for name, size in rows.items()}
    same = replace(checkpoint, tensors=dict(tensors) | biases)
    torch.testing.assert_close(said(same, tiny_target), said(checkpoint, tiny_target))
    for name in "qkv":
        key = f"{layer}.self_attn.{name}_proj.bias"
        moved = replace(same, tensors=dict(same.tensors) | {key: torch.linspace(-1, 1, rows[name])})
        # A bias on the keys alone would change nothing without rotary positions; with them it does.
        assert (said(moved, tiny_target) - said(checkpoint, tiny_target)).abs().max() > 1e-5, name
        refused(replace(moved, config=dict(moved.config) | {"attention_bias": False}), tiny_target, "proj.bias")
    refused(replace(checkpoint, config=dict(checkpoint.config) | {"attention_bias": True}), tiny_target, "proj.bias", "missing")
    one = {k: t for k, t in same.tensors.items() if k != f"{layer}.self_attn.k_proj.bias"}
    refused(replace(same, tensors=one), tiny_target, "k_proj.bias")


def test_embeddings_of_the_heads_own_are_used(checkpoint, tiny_target):
    own = tiny_target.embeddings.float().flip(0)
    with_own = replace(checkpoint, tensors=dict(checkpoint.tensors) | {"embed_tokens.weight": own})
    assert (said(with_own, tiny_target) - said(checkpoint, tiny_target)).abs().max() > 1e-3
    copied = replace(checkpoint, tensors=dict(checkpoint.tensors) | {"embed_tokens.weight": tiny_target.embeddings.clone()})
    torch.testing.assert_close(said(copied, tiny_target), said(checkpoint, tiny_target))


def test_an_lm_head_of_an_eagle_1_heads_own_is_used(tiny_target):
    head = random_checkpoint(tiny_target, VOCABULARY, seed=3)
    rows = tiny_target.lm_head_weight[VOCABULARY].float()
    torch.testing.assert_close(said(changed(head, lm_head__weight=rows), tiny_target), said(head, tiny_target))
    assert (said(changed(head, lm_head__weight=rows.flip(0)), tiny_target) - said(head, tiny_target)).abs().max() > 1e-3


def test_a_bias_beside_bias_false_is_refused_and_one_that_is_promised_is_missed(tiny_target):
    head = random_checkpoint(tiny_target, VOCABULARY, seed=3)
    refused(changed(head, {"bias": False}), tiny_target, "fc.bias", "not part of")
    refused(changed(head, fc__bias=None), tiny_target, "fc.bias", "missing")
    silent = {k: v for k, v in head.config.items() if k != "bias"}
    without = HeadCheckpoint(silent, {k: t for k, t in head.tensors.items() if k != "fc.bias"})
    torch.testing.assert_close(said(without, tiny_target), said(head, tiny_target))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_hidden_layers", 2),
        ("hidden_act", "gelu"),
        ("rope_scaling", {"type": "linear", "factor": 2.0}),
        ("rope_parameters", {"rope_type": "llama3", "rope_theta": 1e4, "factor": 8.0}),
        ("rope_parameters", {"rope_theta": 1e4, "partial_rotary_factor": 0.5}),
        ("rope_parameters", [1]),
        ("sliding_window", 8),
        ("use_sliding_window", True),
        ("mlp_bias", True),
        ("model_type", "gemma2"),
        ("pretraining_tp", 2),
        ("vocab_size", 97),
        ("draft_vocab_size", 31),
        ("hidden_size", 64),
        ("num_attention_heads", 3),
        ("num_attention_heads", 0),
        ("intermediate_size", "48"),
        ("head_dim", 16),
        ("norm_before_residual", "yes"),
        ("logit_scale", 0.5),
        ("eagle_viz", []),
        ("eagle_viz", {"temperatures": []}),
        ("eagle_viz", {"temperatures": [1.0, 0]}),
        ("eagle_viz", {"temperatures": [float("nan")]}),
        ("eagle_viz", {"temperatures": "1"}),
        ("transformer_layer_config", {}),
    ],
)
def test_a_field_that_changes_the_head_is_refused_by_name(checkpoint, tiny_target, field, value):
    one = changed(checkpoint, {field: value})
    with pytest.raises(HeadError) as raised:
        Head(one, tiny_target)
    assert "\n" not in str(raised.value)
    named = {"eagle_viz": "temperatures" if isinstance(value, dict) else field, "transformer_layer_config": "speculators"}
    if field not in ("num_attention_heads", "intermediate_size", "head_dim") or value in (0, "48"):
        assert named.get(field, field) in str(raised.value), raised.value
    else:
        assert "has shape" in str(raised.value), raised.value


def test_a_norm_before_the_residual_is_used_by_eagle_3_and_refused_by_eagle_1(checkpoint, tiny_target):
    other = changed(checkpoint, {"norm_before_residual": True})
    if checkpoint.is_eagle3:
        assert (said(other, tiny_target) - said(checkpoint, tiny_target)).abs().max() > 1e-4
    else:
        refused(other, tiny_target, "norm_before_residual")


def test_two_bases_of_the_rotation_are_refused(checkpoint, tiny_target):
    refused(changed(checkpoint, {"rope_theta": 1e4, "rope_parameters": {"rope_theta": 1e5}}), tiny_target, "two rope_theta")


def test_a_field_that_nobody_knows_is_named(checkpoint, tiny_target):
    refused(changed(checkpoint, {"attention_sinks": 4}), tiny_target, "attention_sinks", "not known")


@pytest.mark.parametrize("field", sorted(HARMLESS))
def test_harmless_fields_have_a_reason_and_change_nothing(checkpoint, tiny_target, field):
    assert HARMLESS[field] and field not in READ and field not in ALLOWED
    torch.testing.assert_close(said(changed(checkpoint, {field: 3}), tiny_target), said(checkpoint, tiny_target), rtol=0, atol=0)


@pytest.mark.parametrize("field", ["rope_theta", "rms_norm_eps"])
def test_fields_that_are_read_are_used(checkpoint, tiny_target, field):
    other = changed(checkpoint, {field: 0.3})
    assert (said(other, tiny_target) - said(checkpoint, tiny_target)).abs().max() > 1e-4


def test_token_ids_in_place_of_offsets_are_refused(checkpoint, tiny_target):
    low = torch.arange(0, 64, 2)  # as offsets they would name 0, 3, 6, ...: in range, and wrong
    refused(changed(checkpoint, d2t=low, t2d=None), tiny_target, "d2t", "offsets")
    refused(changed(checkpoint, d2t=low, t2d=torch.zeros(96, dtype=torch.bool).index_fill(0, low, True)), tiny_target, "d2t", "t2d")


def test_a_draft_vocabulary_is_whole_numbers_and_never_half_said(checkpoint, tiny_target):
    """Fractions would be cut off in silence; without `d2t`, a `t2d` that leaves tokens out does not say which draft id is which."""
    offsets = checkpoint.tensors.get("d2t", torch.zeros(96, dtype=torch.long))
    refused(changed(checkpoint, d2t=offsets + 0.4), tiny_target, "d2t", "whole numbers")
    lone = changed(checkpoint, d2t=None, t2d=torch.arange(96) < 5)
    refused(lone, tiny_target, "lm_head" if checkpoint.is_eagle3 else "t2d")


def test_a_text_longer_than_the_head_counts_is_drafted_all_the_same(checkpoint, tiny_target):
    """Rotary positions go on beyond max_position_embeddings, with the angles that a larger table has."""
    short, long = (Head(changed(checkpoint, {"max_position_embeddings": count}), tiny_target) for count in (4, 64))
    tokens = [5 + i % 80 for i in range(30)]
    read = tiny_target.forward([7, *tokens[:-1]], taps=short.taps).read
    torch.testing.assert_close(*(head.forward(tokens, head.fuse(read)) for head in (short, long)))


def test_named_layers_are_read_instead_of_the_usual_ones(tiny_target):
    head = random_eagle3_checkpoint(tiny_target, VOCABULARY, seed=3)
    named = {"eagle_aux_hidden_state_layer_ids": [0, 1, 2], "use_aux_hidden_state": True}
    assert Head(changed(head, {"eagle_config": named}), tiny_target).taps == (0, 1, 2)
    for ids in ([0, 1], [0, 1, 3], [2, 1, 0], [0, 0, 1], "012", [0, 1, 2.5]):
        refused(changed(head, {"eagle_config": {"eagle_aux_hidden_state_layer_ids": ids}}), tiny_target, "layer_ids")
    refused(changed(head, {"eagle_config": {"use_aux_hidden_state": False}}), tiny_target, "use_aux_hidden_state")


def test_shards_are_joined_by_their_index(checkpoint, tiny_target, tmp_path):
    tensors = dict(checkpoint.tensors)
    parts = {"model-00001-of-00002.safetensors": {}, "model-00002-of-00002.safetensors": {}}
    for number, (key, tensor) in enumerate(tensors.items()):
        list(parts.values())[number % 2][key] = tensor
    for name, part in parts.items():
        save_file(part, tmp_path / name)
    named = {key: name for name, part in parts.items() for key in part}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": named}))
    (tmp_path / "config.json").write_text(json.dumps(dict(checkpoint.config)))
    torch.testing.assert_close(said(read_head(tmp_path), tiny_target), said(checkpoint, tiny_target))
    (tmp_path / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": named | {"more": "model-00001-of-00002.safetensors"}})
    )
    with pytest.raises(HeadError, match="names 'more', which is in none"):
        read_head(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"fc.weight": "../away.safetensors"}}))
    with pytest.raises(HeadError, match="no weight_map"):
        read_head(tmp_path)


@pytest.mark.parametrize("content", ["[]", "3", "null", '"x"', "[" * 100_000])
def test_a_config_that_is_no_object_is_one_sentence(tmp_path, content):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(HeadError, match="head config"):
        read_head(tmp_path)


def test_weights_that_are_no_tensors_by_name_are_one_sentence(checkpoint, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(dict(checkpoint.config)))
    for content in ([torch.zeros(2)], {"fc.weight": 3}, torch.zeros(2)):
        torch.save(content, tmp_path / "pytorch_model.bin")
        with pytest.raises(HeadError, match="something else than tensors"):
            read_head(tmp_path)


@pytest.mark.parametrize("value", [None, "x", float("nan"), -1.0, True])
def test_a_base_or_epsilon_that_is_no_number_is_named(checkpoint, tiny_target, value):
    """Fields that are read as numbers hold numbers."""
    config = {name: entry for name, entry in checkpoint.config.items() if name != "rope_parameters"}
    for field, name in (("rope_theta", "rope_theta"), ("rms_norm_eps", "norm_eps")):
        with pytest.raises(HeadError) as raised:
            Head(HeadCheckpoint(config | {field: value}, checkpoint.tensors, "some/model.safetensors"), tiny_target)
        assert "\n" not in str(raised.value) and (field in str(raised.value) or name in str(raised.value))


def test_a_draft_vocabulary_that_is_a_single_number_is_named(checkpoint, tiny_target):
    """d2t without an axis."""
    refused(changed(checkpoint, d2t=torch.tensor(3)), tiny_target, "'d2t' has shape []", "one axis")


@pytest.mark.parametrize("content", [b"", b"\x80\x04", b"no weights at all"])
@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_files_that_hold_no_tensors_are_one_sentence(tmp_path, checkpoint, name, content):
    """Whatever the unpickler or safetensors stumble over."""
    (tmp_path / "config.json").write_text(json.dumps(dict(checkpoint.config)))
    (tmp_path / name).write_bytes(content)
    with pytest.raises(HeadError, match="cannot be read: .") as raised:
        read_head(tmp_path)
    assert "\n" not in str(raised.value)
