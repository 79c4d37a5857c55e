"""An EAGLE-3 head in the layout of vLLM's speculators is the same head as in EAGLE's own."""

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file

from eagle_viz.core.policies import POLICIES
from eagle_viz.engine.checkpoint import HeadCheckpoint, HeadError, read_head
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.generation import generate
from eagle_viz.engine.head import Head, random_eagle3_checkpoint
from eagle_viz.engine.plain import check_lossless
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.speculators import SILENT, published
from tests.engine.test_eagle3 import TOKENS, written_out

LAYER_FIELDS = (
    "model_type",
    "num_hidden_layers",
    "hidden_act",
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "rms_norm_eps",
    "max_position_embeddings",
    "vocab_size",
)


@pytest.fixture(scope="module")
def plain(tiny_target) -> HeadCheckpoint:
    """A random head without our own extra row of the lm_head, norms other than one, and embeddings of its own."""
    base = random_eagle3_checkpoint(tiny_target, torch.arange(0, 96, 3), seed=5)
    generator = torch.Generator().manual_seed(9)
    tensors = {k: t for k, t in base.tensors.items() if not k.startswith("other.")}
    tensors |= {k: 0.5 + torch.rand(t.shape, generator=generator) for k, t in tensors.items() if "norm" in k}
    return replace(base, tensors=tensors | {"embed_tokens.weight": tiny_target.embeddings.clone()})


def nested(plain: HeadCheckpoint, **outer) -> HeadCheckpoint:
    """The head as speculators 0.3 and later write it."""
    layer = {field: plain.config[field] for field in LAYER_FIELDS}
    layer |= {"rope_parameters": {"rope_type": "default", "rope_theta": plain.config["rope_theta"]}}
    config = {
        "architectures": ["Eagle3Speculator"],
        "auto_map": {"": "config.Eagle3SpeculatorConfig"},
        "draft_vocab_size": 32,
        "dtype": "float32",
        "eagle_aux_hidden_state_layer_ids": None,
        "embed_requires_grad": False,
        "norm_before_residual": False,
        "speculators_config": {
            "algorithm": "eagle3",
            "default_proposal_method": "greedy",
            "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 3}],
            "verifier": {"architectures": ["LlamaForCausalLM"], "name_or_path": "some/target"},
        },
        "speculators_model_type": "eagle3",
        "speculators_version": "0.3.0",
        "target_hidden_size": None,
        "tie_word_embeddings": False,
        "transformer_layer_config": layer,
        "transformers_version": "4.57.1",
    }
    tensors = {k.replace("midlayer.", "layers.0."): t for k, t in plain.tensors.items()}
    return HeadCheckpoint(config | outer, tensors, "some/model.safetensors")


def written(folder, checkpoint: HeadCheckpoint):
    save_file({k: t.contiguous() for k, t in checkpoint.tensors.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(dict(checkpoint.config)))
    return folder


def taps(head: Head, target) -> torch.Tensor:
    return target.forward([7, *TOKENS[:-1]], taps=head.taps).read


@pytest.mark.parametrize("norm_first", [False, True])
def test_states_and_confidences_are_those_of_the_layer_written_out(plain, tiny_target, tmp_path, norm_first):
    head = Head.load(written(tmp_path, nested(plain, norm_before_residual=norm_first)), tiny_target)
    read = taps(head, tiny_target)
    states, logits = written_out(head, tiny_target, read)
    found = head.forward(TOKENS, head.fuse(read))
    torch.testing.assert_close(found, states, atol=1e-4, rtol=1e-4)
    probabilities = head.probabilities(found, [1] * len(TOKENS))
    torch.testing.assert_close(probabilities, logits.softmax(-1), atol=1e-5, rtol=1e-4)
    same = Head(plain, tiny_target)
    assert torch.allclose(found, same.forward(TOKENS, same.fuse(read)), atol=1e-5) != norm_first


def test_drafted_answers_are_the_targets_greedy_ones(plain, tiny_target):
    head = Head(published(nested(plain, norm_before_residual=True)), tiny_target)
    for prompt in ([2, 17, 40], [9, 9, 60, 3], [5]):
        run = generate(
            tiny_target, HeadDrafter(head), prompt, {"eagle2": (POLICIES["eagle2"](top_k=4, max_depth=4), 12)}, Settings(24)
        )
        for _ in run:
            pass
        assert check_lossless(tiny_target, prompt, run.tokens).identical


def test_named_layers_are_read(plain, tiny_target):
    assert Head(published(nested(plain, eagle_aux_hidden_state_layer_ids=[0, 1, 2])), tiny_target).taps == (0, 1, 2)


def test_fields_left_out_have_llamas_defaults(plain):
    """A layer's fields are written as their difference to the defaults: a hidden size of 4096 is not written."""
    one = nested(plain)
    layer = {k: v for k, v in one.config["transformer_layer_config"].items() if k not in ("hidden_size", "vocab_size")}
    config = published(replace(one, config=dict(one.config) | {"transformer_layer_config": layer})).config
    assert (config["hidden_size"], config["vocab_size"]) == (4096, 32000)


def test_a_head_in_eagles_layout_is_left_as_it_is(plain):
    assert published(plain) is plain


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("speculators_model_type", "dflash", "allowed is 'eagle3'"),
        ("speculators_model_type", None, "speculators_model_type is None"),
        ("transformer_layer_config", None, "transformer_layer_config"),
        ("transformer_layer_config", [1], "transformer_layer_config"),
        ("norm_before_residual", None, "norm_before_residual is None"),
        ("norm_before_residual", 1, "norm_before_residual is 1"),
        ("target_hidden_size", 64, "target_hidden_size is 64"),
        ("vocab_size", 97, "two vocab_size"),
        ("draft_vocab_size", 31, "draft_vocab_size is 31"),
        ("eagle_aux_hidden_state_layer_ids", [0, 1], "eagle_aux_hidden_state_layer_ids"),
        ("norm_before_fc", True, "norm_before_fc"),
    ],
)
def test_what_does_not_fit_is_one_sentence(plain, tiny_target, field, value, words):
    with pytest.raises(HeadError, match=words) as raised:
        Head(published(nested(plain, **{field: value})), tiny_target)
    assert "\n" not in str(raised.value)


def test_every_field_of_the_layer_and_beside_it_is_used_or_has_a_reason(plain, tiny_target):
    """A field that is not known, at either level, is refused by its name."""
    one = nested(plain)
    layer = dict(one.config["transformer_layer_config"]) | {"attention_sinks": 4}
    for config in ({"attention_sinks": 4}, {"transformer_layer_config": layer}):
        with pytest.raises(HeadError, match="'attention_sinks'"):
            Head(published(replace(one, config=dict(one.config) | config)), tiny_target)
    assert all(SILENT.values())


def test_a_layer_under_both_names_is_refused(plain):
    one = nested(plain)
    with pytest.raises(HeadError, match="there twice"):
        published(replace(one, tensors=dict(one.tensors) | {"midlayer.hidden_norm.weight": torch.ones(32)}))


def test_a_folder_is_read_whole(plain, tmp_path):
    found = published(read_head(written(tmp_path, nested(plain))))
    assert found.is_eagle3 and found.tensors.keys() == plain.tensors.keys()
