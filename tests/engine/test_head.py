"""Laws of the draft head: what it computes, how it is kept on disk, and what a broken file says."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRotaryEmbedding

from eagle_viz.engine.checkpoint import HeadCheckpoint, HeadError, read_head
from eagle_viz.engine.head import Head, head_config, random_checkpoint
from eagle_viz.engine.head_rules import draft_tokens

TOKENS = [4, 9, 33, 70, 12]


@pytest.fixture(scope="module")
def head(tiny_target) -> Head:
    return Head(random_checkpoint(tiny_target, torch.arange(0, 96, 3), seed=3), tiny_target)


@pytest.fixture(scope="module")
def features(tiny_target):
    return tiny_target.forward([7, *TOKENS[:-1]]).features


def hugging_face_head(head: Head, target, features):
    """The same head out of Hugging Face's own decoder layer, its input norm replaced by nothing."""
    config = LlamaConfig(**{k: v for k, v in head_config(target).items() if k != "bias"}, attn_implementation="eager")
    layer = LlamaDecoderLayer(config, layer_idx=0)
    tensors = head.checkpoint.tensors
    own = {k.removeprefix("layers.0."): w for k, w in tensors.items() if k.startswith("layers.0.")}
    layer.load_state_dict(own | {"input_layernorm.weight": torch.ones(target.hidden)})
    layer.input_layernorm = torch.nn.Identity()
    x = torch.cat([target.embeddings[TOKENS], features], dim=-1)[None]
    x = torch.nn.functional.linear(x, tensors["fc.weight"], tensors["fc.bias"])
    positions = torch.arange(len(TOKENS))[None]
    causal = torch.full((len(TOKENS), len(TOKENS)), float("-inf")).triu(1)[None, None]
    with torch.no_grad():
        rotary = LlamaRotaryEmbedding(config)(x, positions)
        return layer(x, attention_mask=causal, position_ids=positions, position_embeddings=rotary)[0]


def test_guesses_are_those_of_a_hugging_face_layer_without_input_norm(head, tiny_target, features):
    wanted = hugging_face_head(head, tiny_target, features)
    torch.testing.assert_close(head.forward(TOKENS, features), wanted.view(len(TOKENS), -1), atol=1e-4, rtol=1e-4)


def test_a_frontier_equals_each_path_alone(head, features):
    """Two nodes under one root and one grandchild, in two frontier passes, against three chains."""
    cache = head.new_cache(32)
    root = head.forward(TOKENS, features, cache=cache)[-1:]
    start = cache.length
    first = head.forward([20, 21], root.expand(2, -1), torch.eye(2, dtype=torch.bool), [start] * 2, cache)
    sees = torch.tensor([[False, True, True]])
    second = head.forward([22], first[1:], sees, [start + 1], cache)

    def alone(path: list[int]) -> torch.Tensor:
        own = head.new_cache(32)
        guess = head.forward(TOKENS, features, cache=own)[-1:]
        for token in path:
            guess = head.forward([token], guess, cache=own)
        return guess[0]

    torch.testing.assert_close(first[0], alone([20]), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(first[1], alone([21]), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(second[0], alone([21, 22]), atol=1e-5, rtol=1e-4)
    cache.keep(start, [])
    torch.testing.assert_close(head.forward([20], root, cache=cache)[0], alone([20]), atol=1e-5, rtol=1e-4)


def test_candidates_are_the_targets_lm_head_over_the_draft_vocabulary(head, tiny_target, features):
    guess = head.forward(TOKENS, features)
    found = head.candidates(guess, 5, [1] * len(TOKENS))
    logits = torch.cat([tiny_target.logits(guess)[:, head.draft_tokens], torch.zeros(len(TOKENS), 1)], dim=-1)
    wanted, ids = logits.softmax(-1)[:, :-1].topk(5)
    torch.testing.assert_close(found.confidences, wanted.double(), atol=1e-6, rtol=1e-5)
    assert found.tokens.tolist() == head.draft_tokens[ids].tolist()
    assert found.confidences.dtype == torch.float64


def test_mass_outside_the_draft_vocabulary_is_left_out_of_every_row(head, features):
    sums = head.probabilities(head.forward(TOKENS, features), [1] * len(TOKENS)).sum(-1)
    assert (sums < 1).all() and (sums > 0).all()


def test_ties_go_to_the_smaller_draft_id(head):
    found = head.candidates(torch.zeros(1, head.shape.hidden), 4, [1])
    assert found.tokens[0].tolist() == sorted(found.tokens[0].tolist())


def test_temperatures_are_by_depth_and_the_last_goes_on(tiny_target, head, features):
    config = head.checkpoint.config | {"eagle_viz": {"temperatures": [1.0, 2.0]}}
    warm = Head(HeadCheckpoint(config, head.checkpoint.tensors), tiny_target)
    guess = head.forward(TOKENS, features)[:1].expand(3, -1)
    found = warm.probabilities(guess, [1, 2, 7])
    torch.testing.assert_close(found[0], head.probabilities(guess[:1], [1])[0])
    torch.testing.assert_close(found[1], found[2])
    assert found[1].max() < found[0].max()


def test_saving_and_loading_gives_the_same_head(tmp_path, head, tiny_target, features):
    head.save(tmp_path, torch.float32)
    again = Head.load(tmp_path, tiny_target)
    assert torch.equal(again.draft_tokens, head.draft_tokens)
    assert torch.equal(again.forward(TOKENS, features), head.forward(TOKENS, features))
    assert read_head(tmp_path).config == head.checkpoint.config


def test_draft_ids_are_kept_as_offsets(tmp_path, head):
    head.save(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    assert (stored["d2t"] + torch.arange(32)).tolist() == list(range(0, 96, 3))
    assert stored["t2d"].nonzero().flatten().tolist() == list(range(0, 96, 3))


def test_a_published_head_has_embeddings_a_bin_file_and_the_whole_vocabulary(tmp_path, head, tiny_target, features):
    extra = {"d2t", "t2d", "other.weight", "other.bias"}
    tensors = {k: t for k, t in head.checkpoint.tensors.items() if k not in extra}
    torch.save(tensors | {"embed_tokens.weight": tiny_target.embeddings}, tmp_path / "pytorch_model.bin")
    (tmp_path / "config.json").write_text(json.dumps(dict(head.checkpoint.config)))
    published = Head.load(tmp_path, tiny_target)
    assert published.draft_tokens.tolist() == list(range(96))
    probabilities = published.probabilities(published.forward(TOKENS, features), [1] * len(TOKENS))
    torch.testing.assert_close(probabilities.sum(-1), torch.ones(len(TOKENS)))


def test_a_head_may_have_no_bias(tiny_target, head, features):
    tensors = {k: t for k, t in head.checkpoint.tensors.items() if k != "fc.bias"}
    bare = Head(HeadCheckpoint(head.checkpoint.config | {"bias": False}, tensors), tiny_target)
    torch.testing.assert_close(bare.forward(TOKENS, features), head.forward(TOKENS, features))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("fc.weight"), r"key 'fc.weight' is missing, expected shape \[32, 64\]"),
        (lambda t: t.update({"fc.bias": torch.zeros(5)}), r"key 'fc.bias' has shape \[5\], expected \[32\]"),
        (lambda t: t.update({"d2t": torch.full((32,), 90)}), "key 'd2t' must name different token ids"),
    ],
)
def test_a_broken_checkpoint_names_file_key_and_shape(tmp_path, head, tiny_target, change, message):
    head.save(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    change(tensors)
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(HeadError, match=message) as raised:
        Head.load(tmp_path, tiny_target)
    assert "model.safetensors" in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "head config .* cannot be read"),
        ({"config.json": "{"}, "is not JSON"),
        ({"config.json": "{}"}, "has no weights: expected model.safetensors or pytorch_model.bin"),
        ({"config.json": "{}", "model.safetensors": "x"}, "head weights .* cannot be read"),
        ({"config.json": "{}", "pytorch_model.bin": "x"}, "head weights .* cannot be read"),
    ],
)
def test_a_broken_folder_is_one_sentence(tmp_path, tiny_target, files, message):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(HeadError, match=message) as raised:
        Head.load(tmp_path, tiny_target)
    assert "\n" not in str(raised.value)


def test_a_head_of_another_target_is_refused(head, tiny_target):
    with pytest.raises(HeadError, match="hidden_size is 576, but the target's is 32"):
        Head(HeadCheckpoint(head.checkpoint.config | {"hidden_size": 576}, head.checkpoint.tensors), tiny_target)


def test_random_heads_are_seeded(tiny_target):
    one, same, other = (random_checkpoint(tiny_target, torch.arange(8), seed).tensors["fc.weight"] for seed in (1, 1, 2))
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert draft_tokens(HeadCheckpoint({}, {}), 5).tolist() == [0, 1, 2, 3, 4]
    assert Head.random(tiny_target).forward([1], torch.zeros(1, 32)).shape == (1, 32)
