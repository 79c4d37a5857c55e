"""`generate` and `record` on targets of other families than Llama, from a local folder: tiny random Qwen2, Qwen3 and Mistral."""

import json

import pytest
import torch
from transformers import AutoModelForCausalLM, MistralConfig, Qwen2Config, Qwen3Config

from eagle_viz import POLICIES
from eagle_viz.commands import main
from eagle_viz.core import recording
from eagle_viz.engine.head import Head
from eagle_viz.engine.target import Target
from tests.engine.tiny import hf_greedy, tiny_tokenizer

SIZES = dict(vocab_size=96, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2)
ENDS = dict(eos_token_id=1, bos_token_id=0, pad_token_id=1, max_position_embeddings=512, initializer_range=0.3)
FAMILIES = {
    "tiny-qwen2": lambda: Qwen2Config(**SIZES, **ENDS),
    "tiny-qwen3": lambda: Qwen3Config(head_dim=8, **SIZES, **ENDS),
    "tiny-mistral": lambda: MistralConfig(head_dim=8, sliding_window=None, **SIZES, **ENDS),
}


@pytest.fixture(params=FAMILIES)
def folder(request, tmp_path):
    """A target's folder as Hugging Face writes it, under the family's name."""
    torch.manual_seed(5)
    place = tmp_path / request.param
    AutoModelForCausalLM.from_config(FAMILIES[request.param]()).save_pretrained(place)
    tiny_tokenizer().save_pretrained(place)
    return place


def test_generate_writes_the_plain_greedy_answer(folder, capsys):
    """Drafted with a head made for this target: identical to plain decoding, and to whole forwards of Hugging Face's own model."""
    head = folder.parent / "head"
    Head.random(Target.load(folder), draft_vocabulary=40).save(head)
    options = ["--target", str(folder), "--head", str(head), "--budget", "8", "--max-new-tokens", "10", "--check", "--json"]
    assert main(["generate", "--prompt", "w7 w9", *options]) == 0
    told = capsys.readouterr()
    said, target = json.loads(told.out), Target.load(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    assert said["check"]["identical"] and said["tokens"] == hf_greedy(model, target.encode_chat("w7 w9"), 10)
    assert f"{folder.name}: 0 million parameters, about 0.2 GB to load in float32" in told.err


def test_record_writes_a_recording_that_opens(folder, tmp_path, capsys):
    """Under the target's own name, with every node that EAGLE-2 asks for at the largest budget."""
    options = ["--target", str(folder), "--drafter", "oracle", "--prompt", "w7 w9", "--max-new-tokens", "4", "--contexts", "1"]
    assert main(["record", "--to", str(tmp_path / "made"), *options]) == 0
    found = recording.read(capsys.readouterr().out.strip())
    assert (found.target, found.drafter, found.answer_length) == (folder.name, "oracle", 4)
    assert POLICIES["eagle2"](max_depth=12)(found.cycles[0].landscape, recording.MAX_BUDGET).tree.budget == recording.MAX_BUDGET
