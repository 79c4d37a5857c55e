"""EAGLE-3 heads as SpecForge writes them: its config for Qwen3-4B in small, bfloat16 tensors, no embeddings, buffers d2t and t2d.

Source of the layout: sgl-project/SpecForge 7c83c0a, configs/qwen3-4b-eagle3.json, and its LlamaForCausalLMEagle3.
"""

import json

import pytest
import torch
from safetensors.torch import save_file

from eagle_viz.core.policies import POLICIES
from eagle_viz.engine.checkpoint import HeadError
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.generation import generate
from eagle_viz.engine.head import Head
from eagle_viz.engine.plain import check_lossless
from eagle_viz.engine.sampling import Settings
from tests.engine.test_eagle3 import TOKENS, written_out

HIDDEN, HEADS, KV_HEADS, SIZE, INNER, VOCABULARY = 32, 4, 2, 8, 48, 96
KEPT = torch.arange(0, VOCABULARY, 3)
CONFIG = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "head_dim": SIZE,
    "hidden_act": "silu",
    "hidden_size": HIDDEN,
    "initializer_range": 0.02,
    "intermediate_size": INNER,
    "max_position_embeddings": 512,
    "max_window_layers": 36,
    "model_type": "llama",
    "num_attention_heads": HEADS,
    "num_hidden_layers": 1,
    "num_key_value_heads": KV_HEADS,
    "rms_norm_eps": 1e-06,
    "rope_scaling": None,
    "rope_theta": 1000000,
    "sliding_window": None,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.51.0",
    "use_cache": True,
    "use_sliding_window": False,
    "vocab_size": VOCABULARY,
    "draft_vocab_size": len(KEPT),
}


def tensors() -> dict[str, torch.Tensor]:
    """Random ones under SpecForge's names and in its shapes; the target's embeddings are left out when it saves."""
    shapes = {
        "fc.weight": (HIDDEN, 3 * HIDDEN),
        "midlayer.self_attn.q_proj.weight": (HEADS * SIZE, 2 * HIDDEN),
        "midlayer.self_attn.k_proj.weight": (KV_HEADS * SIZE, 2 * HIDDEN),
        "midlayer.self_attn.v_proj.weight": (KV_HEADS * SIZE, 2 * HIDDEN),
        "midlayer.self_attn.o_proj.weight": (HIDDEN, HEADS * SIZE),
        "midlayer.mlp.gate_proj.weight": (INNER, HIDDEN),
        "midlayer.mlp.up_proj.weight": (INNER, HIDDEN),
        "midlayer.mlp.down_proj.weight": (HIDDEN, INNER),
        "lm_head.weight": (len(KEPT), HIDDEN),
    }
    generator = torch.Generator().manual_seed(3)
    made = {name: torch.randn(shape, generator=generator) * 0.2 for name, shape in shapes.items()}
    for name in ("norm", "midlayer.input_layernorm", "midlayer.hidden_norm", "midlayer.post_attention_layernorm"):
        made[f"{name}.weight"] = 0.5 + torch.rand(HIDDEN, generator=generator)
    kept = torch.zeros(VOCABULARY, dtype=torch.bool)
    kept[KEPT] = True
    return {name: t.bfloat16() for name, t in made.items()} | {"d2t": KEPT - torch.arange(len(KEPT)), "t2d": kept}


def written(folder, **changed):
    save_file(tensors(), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG | changed))
    return folder


def test_states_and_confidences_are_those_of_the_layer_written_out(tiny_target, tmp_path):
    """Fused target states in, the layer in plain torch, the draft vocabulary's softmax out."""
    head = Head.load(written(tmp_path, target_hidden_size=HIDDEN), tiny_target)
    assert head.checkpoint.kind == "EAGLE-3" and head.draft_tokens.tolist() == KEPT.tolist()
    read = tiny_target.forward([7, *TOKENS[:-1]], taps=head.taps).read
    head.checkpoint.tensors.update({name: t.float() for name, t in head.checkpoint.tensors.items() if t.is_floating_point()})
    states, logits = written_out(head, tiny_target, read)
    found = head.forward(TOKENS, head.fuse(read))
    torch.testing.assert_close(found, states, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(head.probabilities(found, [1] * len(TOKENS)), logits.softmax(-1), atol=1e-5, rtol=1e-4)


def test_drafted_answers_are_the_targets_greedy_ones(tiny_target, tmp_path):
    head = Head.load(written(tmp_path), tiny_target)
    eagle2 = {"eagle2": (POLICIES["eagle2"](top_k=4, max_depth=4), 12)}
    run = generate(tiny_target, HeadDrafter(head), [2, 17, 40], eagle2, Settings(24))
    assert list(run) and check_lossless(tiny_target, [2, 17, 40], run.tokens).identical


@pytest.mark.parametrize("field, value", [("fc_norm", True), ("norm_output", True), ("target_hidden_size", 64)])
def test_what_its_newer_heads_do_besides_is_refused_by_name(tiny_target, tmp_path, field, value):
    """EAGLE-3.1's norms, and a target of another width, change what a head computes."""
    with pytest.raises(HeadError, match=field):
        Head.load(written(tmp_path, **{field: value}), tiny_target)
