"""A tiny random Llama that stands for a real target: the same code paths, a millisecond a pass."""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from eagle_viz.engine.target import Target

VOCABULARY = 96


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    words = {"<unk>": 0, "<end>": 1, "user": 2, "bot": 3} | {f"w{i}": i for i in range(4, VOCABULARY)}
    core = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>", eos_token="<end>")
    tokenizer.chat_template = (
        "{% for m in messages %}user {{ m['content'] }} <end> {% endfor %}{% if add_generation_prompt %}bot{% endif %}"
    )
    return tokenizer


def tiny_llama(seed: int = 0) -> LlamaForCausalLM:
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=512,
        initializer_range=0.3,
        eos_token_id=1,
        bos_token_id=0,
        pad_token_id=1,
        tie_word_embeddings=True,
    )
    model = LlamaForCausalLM(config).eval()
    for parameter in model.parameters():
        # Norm weights start at one; anything else shows whether folding them into the next matrix is right.
        if parameter.dim() == 1:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
    return model


def tiny_target(seed: int = 0) -> Target:
    return Target(tiny_llama(seed), tiny_tokenizer())


def hf_greedy(model, prompt, count):
    """Plain greedy decoding by whole forwards of Hugging Face's model."""
    tokens = list(prompt)
    with torch.no_grad():
        for _ in range(count):
            tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
            if tokens[-1] == 1:
                break
    return tokens[len(prompt) :]
