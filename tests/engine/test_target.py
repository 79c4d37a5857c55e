"""Laws of the target: it computes what Hugging Face computes, and a tree is many plain texts at once."""

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel, Qwen2Config, Qwen2ForCausalLM

from eagle_viz.engine.llama import Llama, additive_mask
from eagle_viz.engine.placed import TransformersBody
from eagle_viz.engine.target import Target

PREFIX = [5, 17, 40, 8, 9]
# A tree of 6 nodes below root 11; parents by node number.
TOKENS = [11, 20, 21, 30, 31, 32, 33]
PARENTS = [-1, 0, 0, 1, 1, 2, 3]


def ancestors(node: int) -> list[int]:
    return [] if node < 0 else [*ancestors(PARENTS[node]), node]


def tree_mask() -> torch.Tensor:
    mask = torch.zeros(len(TOKENS), len(TOKENS), dtype=torch.bool)
    for node in range(len(TOKENS)):
        mask[node, ancestors(node)] = True
    return mask


def tree_positions() -> list[int]:
    return [len(PREFIX) + len(ancestors(node)) - 1 for node in range(len(TOKENS))]


def gpt2() -> GPT2LMHeadModel:
    torch.manual_seed(1)
    return GPT2LMHeadModel(GPT2Config(vocab_size=96, n_positions=64, n_embd=32, n_layer=2, n_head=2)).eval()


def qwen2() -> Qwen2ForCausalLM:
    torch.manual_seed(2)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    return Qwen2ForCausalLM(Qwen2Config(vocab_size=96, num_key_value_heads=2, **sizes)).eval()


@pytest.fixture(params=["llama", "gpt2", "qwen2"])
def target_and_model(request, hf_llama, tiny_target):
    if request.param == "llama":
        return tiny_target, hf_llama
    model = {"gpt2": gpt2, "qwen2": qwen2}[request.param]()
    return Target(model, tokenizer=None), model


def test_a_llama_takes_the_lean_way_and_others_the_general_one(tiny_target):
    assert isinstance(tiny_target.body, Llama)
    assert isinstance(Target(gpt2(), None).body, TransformersBody)


def test_logits_and_features_are_hugging_faces(target_and_model):
    target, model = target_and_model
    ids = torch.tensor([PREFIX + TOKENS])
    with torch.no_grad():
        wanted = model(ids, output_hidden_states=True)
    found = target.forward(ids[0], taps=(1,))
    torch.testing.assert_close(found.logits, wanted.logits[0], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found.features, wanted.hidden_states[-1][0], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found.taps[0], wanted.hidden_states[1][0], atol=1e-4, rtol=1e-4)


def test_a_pass_in_pieces_equals_one_pass(target_and_model):
    target, _ = target_and_model
    cache = target.new_cache(32)
    whole = target.forward(PREFIX + TOKENS).logits
    pieces = [target.forward(part, cache=cache).logits for part in (PREFIX, TOKENS[:1], TOKENS[1:])]
    torch.testing.assert_close(torch.cat(pieces), whole, atol=1e-4, rtol=1e-4)
    assert cache.length == len(PREFIX + TOKENS)


def test_tree_logits_equal_a_plain_forward_along_each_path(target_and_model):
    target, _ = target_and_model
    cache = target.new_cache(32)
    target.forward(PREFIX, cache=cache)
    tree = target.forward(TOKENS, tree_mask(), tree_positions(), cache).logits
    for node in range(len(TOKENS)):
        path = [TOKENS[i] for i in ancestors(node)]
        torch.testing.assert_close(tree[node], target.forward(PREFIX + path).logits[-1], atol=1e-4, rtol=1e-4)


def test_keeping_accepted_rows_equals_having_read_them(target_and_model):
    target, _ = target_and_model
    cache = target.new_cache(32)
    target.forward(PREFIX, cache=cache)
    target.forward(TOKENS, tree_mask(), tree_positions(), cache)
    cache.keep(len(PREFIX), [0, 2, 5])
    assert cache.length == len(PREFIX) + 3
    after = target.forward([50], cache=cache).logits[-1]
    plain = target.forward([*PREFIX, TOKENS[0], TOKENS[2], TOKENS[5], 50]).logits[-1]
    torch.testing.assert_close(after, plain, atol=1e-4, rtol=1e-4)


def test_bfloat16_stays_near_float32(hf_llama, tiny_target):
    coarse = Target(hf_llama, None, torch.bfloat16).forward(PREFIX).logits.float()
    fine = tiny_target.forward(PREFIX).logits
    assert (coarse - fine).abs().mean() < 0.05 * fine.abs().mean()


def test_cache_refuses_what_does_not_fit(tiny_target):
    cache = tiny_target.new_cache(4)
    with pytest.raises(ValueError, match="holds 4 positions and 5 are needed"):
        tiny_target.forward(PREFIX, cache=cache)
    with pytest.raises(ValueError, match="rows must lie in"):
        cache.keep(0, [0])
    with pytest.raises(ValueError, match="capacity must be at least 1"):
        tiny_target.new_cache(0)


def test_mask_describes_the_last_positions():
    mask = additive_mask(torch.eye(2, dtype=torch.bool), 2, 5, torch.float32)[0, 0]
    assert mask[:, :3].eq(0).all() and mask[:, 3:].diagonal().eq(0).all()
    assert mask[0, 4] == mask[1, 3] == float("-inf")
    with pytest.raises(ValueError, match=r"mask must be bool \[2, up to 5\]"):
        additive_mask(torch.ones(3, 3, dtype=torch.bool), 2, 5, torch.float32)


def test_chat_template_and_end_token(tiny_target):
    assert tiny_target.encode_chat("w7 w8") == [2, 7, 8, 1, 3]
    assert tiny_target.end_tokens == {1}
    assert tiny_target.decode([7, 8, 1]) == "w7 w8"


def test_a_folder_without_a_model_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match="is not a Hugging Face causal language model"):
        Target.load(tmp_path)


def test_a_saved_folder_loads_again(tmp_path, hf_llama, tiny_target):
    hf_llama.save_pretrained(tmp_path)
    tiny_target.tokenizer.save_pretrained(tmp_path)
    loaded = Target.load(tmp_path)
    torch.testing.assert_close(loaded.forward(PREFIX).logits, tiny_target.forward(PREFIX).logits)


def test_tensors_that_are_missing_or_have_no_place_are_named(tmp_path, hf_llama, tiny_target):
    """Hugging Face would draw missing weights at random and drop the others: both change the model, so both are refused."""
    hf_llama.save_pretrained(tmp_path)
    tiny_target.tokenizer.save_pretrained(tmp_path)
    path, lost = tmp_path / "model.safetensors", "model.layers.1.mlp.up_proj.weight"
    tensors = load_file(path)
    save_file({name: tensor for name, tensor in tensors.items() if name != lost}, path, metadata={"format": "pt"})
    with pytest.raises(ValueError, match=f"lacks the tensor '{lost}'"):
        Target.load(tmp_path)
    save_file(tensors | {"model.layers.9.mlp.up_proj.weight": tensors[lost].clone()}, path, metadata={"format": "pt"})
    with pytest.raises(ValueError, match="no place for it in its config, the tensor 'model.layers.9.mlp.up_proj.weight'"):
        Target.load(tmp_path)


@pytest.mark.real
def test_the_default_target_computes_what_hugging_face_computes():
    from transformers import AutoModelForCausalLM

    from eagle_viz.engine.fetch import default_target_path

    target = Target.load(default_target_path())
    ids = target.encode_chat("Name three rivers.")
    model = AutoModelForCausalLM.from_pretrained(default_target_path(), dtype=torch.float32)
    with torch.no_grad():
        wanted = model(torch.tensor([ids])).logits[0]
    torch.testing.assert_close(target.forward(ids).logits, wanted, atol=2e-3, rtol=1e-3)
