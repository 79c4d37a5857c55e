"""Targets of other families: answered as Hugging Face answers, or refused by name."""

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    CohereConfig,
    FalconConfig,
    Gemma2Config,
    GPTNeoXConfig,
    GptOssConfig,
    MambaConfig,
    MistralConfig,
    OPTConfig,
    Phi3Config,
    Qwen3Config,
)

from eagle_viz.core.policies import Eagle2
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.generation import generate
from eagle_viz.engine.head import Head
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target
from tests.engine.tiny import hf_greedy, tiny_tokenizer

SIZES = dict(vocab_size=96, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
ENDS = dict(eos_token_id=1, bos_token_id=0, pad_token_id=1, max_position_embeddings=128, initializer_range=0.3)
COMMON = SIZES | ENDS
GROUPED = COMMON | {"num_key_value_heads": 2, "head_dim": 8}
COVERED = {
    "mistral within its window": lambda: MistralConfig(sliding_window=64, **GROUPED),
    "gpt-oss within its window": lambda: GptOssConfig(sliding_window=64, num_local_experts=2, num_experts_per_tok=1, **GROUPED),
    "qwen3 without a window": lambda: Qwen3Config(sliding_window=8, **GROUPED),
    "qwen3 within its window": lambda: Qwen3Config(use_sliding_window=True, sliding_window=64, max_window_layers=0, **GROUPED),
    "gpt-neox": lambda: GPTNeoXConfig(**COMMON),
    "phi3": lambda: Phi3Config(num_key_value_heads=2, **COMMON),
    "opt": lambda: OPTConfig(
        vocab_size=96,
        hidden_size=32,
        ffn_dim=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=128,
        word_embed_proj_dim=32,
        eos_token_id=1,
        init_std=0.3,
    ),
}
REFUSED = {
    "mamba": (lambda: MambaConfig(vocab_size=96, hidden_size=32, num_hidden_layers=2, state_size=4), "mamba .* recurrent state"),
    "bloom": (lambda: BloomConfig(vocab_size=96, hidden_size=32, n_layer=2, n_head=4), "bloom .* ALiBi"),
    "falcon": (
        lambda: FalconConfig(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, alibi=True),
        "ALiBi",
    ),
    "gemma2": (lambda: Gemma2Config(**GROUPED), "final_logit_softcapping"),
    "cohere": (lambda: CohereConfig(num_key_value_heads=2, **COMMON), "after the lm_head"),
}


def model_of(config):
    torch.manual_seed(3)
    return AutoModelForCausalLM.from_config(config).eval()


def answer(target, prompt, count):
    drafter = HeadDrafter(Head.random(target, draft_vocabulary=40))
    run = generate(target, drafter, prompt, {"eagle2": (Eagle2(top_k=5, max_depth=5), 12)}, Settings(max_new_tokens=count))
    list(run)
    return run.tokens


@pytest.mark.parametrize("family", COVERED)
def test_drafted_answers_are_hugging_faces_greedy_ones(family):
    model = model_of(COVERED[family]())
    target = Target(model, tiny_tokenizer())
    for last in (10, 11, 12):
        prompt = [2, 17, 40, 5, 66, 1, 3, last]
        assert answer(target, prompt, 20) == hf_greedy(model, prompt, 20)


@pytest.mark.parametrize(
    "config",
    [
        MistralConfig(sliding_window=8, **GROUPED),
        GptOssConfig(sliding_window=8, num_local_experts=2, num_experts_per_tok=1, **GROUPED),
    ],
)
def test_a_text_longer_than_the_window_is_refused_with_the_room_there_is(config):
    """Beyond its window the model would see less than the tree mask says."""
    target = Target(model_of(config), tiny_tokenizer())
    assert target.longest_text == 8
    with pytest.raises(ValueError, match="prompt: 8 tokens given, .*the target reads 8"):
        answer(target, [2, 17, 40, 5, 66, 1, 3, 10], 20)


@pytest.mark.parametrize("family", REFUSED)
def test_what_a_tree_mask_does_not_fit_is_refused_by_name(family):
    config, message = REFUSED[family]
    with pytest.raises(ValueError, match=f"^target: .*{message}"):
        Target(model_of(config()), tiny_tokenizer())


def test_a_bias_of_the_lm_head_is_used():
    from transformers import PhiConfig

    model = model_of(PhiConfig(**COMMON))
    torch.nn.init.normal_(model.get_output_embeddings().bias, std=3.0)
    target = Target(model, tiny_tokenizer())
    torch.testing.assert_close(
        target.forward([5, 6, 7]).logits, model(torch.tensor([[5, 6, 7]])).logits[0].detach(), atol=1e-4, rtol=1e-4
    )


def test_end_tokens_are_named_by_any_of_the_files(tiny_target):
    model = model_of(MistralConfig(sliding_window=None, **GROUPED))
    model.generation_config.eos_token_id = [1, 44]
    assert Target(model, tiny_tokenizer()).end_tokens == {1, 44}


def test_a_missing_chat_template_is_said():
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = None
    target = Target(model_of(MistralConfig(sliding_window=None, **GROUPED)), tokenizer)
    with pytest.raises(ValueError, match="no chat template"):
        target.encode_chat("w5")
