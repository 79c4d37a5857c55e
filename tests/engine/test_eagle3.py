"""An EAGLE-3 head computes what the paper says: checked against the same layer written out in plain torch."""

import json
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from eagle_viz.core.policies import Chain
from eagle_viz.engine.checkpoint import HeadCheckpoint, HeadError, read_head
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.generation import generate
from eagle_viz.engine.head import Head, eagle3_taps, random_eagle3_checkpoint
from eagle_viz.engine.sampling import Settings

TOKENS = [4, 9, 33, 70, 12]


@pytest.fixture(scope="module")
def head(tiny_target) -> Head:
    base = random_eagle3_checkpoint(tiny_target, torch.arange(0, 96, 3), seed=3)
    generator = torch.Generator().manual_seed(8)
    norms = {k: 0.5 + torch.rand(t.shape, generator=generator) for k, t in base.tensors.items() if "norm" in k}
    return Head(replace(base, tensors=dict(base.tensors) | norms), tiny_target)


@pytest.fixture(scope="module")
def taps(tiny_target):
    """Three hidden states of the target side by side, at the positions before TOKENS."""
    return tiny_target.forward([7, *TOKENS[:-1]], taps=eagle3_taps(3)).read


def normed(x, weight, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def turned(x, theta):
    """Rotary embedding of [n, heads, D], row i at position i, pair by pair."""
    n, _, size = x.shape
    angle = torch.arange(n)[:, None] * theta ** (-torch.arange(0, size, 2) / size)
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    one, two = x[..., : size // 2], x[..., size // 2 :]
    return torch.cat([one * cos - two * sin, two * cos + one * sin], dim=-1)


def written_out(head: Head, target, taps) -> tuple[torch.Tensor, torch.Tensor]:
    """States and draft logits of a chain pass, head by head and row by row."""
    w, s = head.checkpoint.tensors, head.shape
    state = taps @ w["fc.weight"].T
    embedded = normed(target.embeddings[TOKENS], w["midlayer.input_layernorm.weight"], s.norm_eps)
    inner_state = normed(state, w["midlayer.hidden_norm.weight"], s.norm_eps)
    read = torch.cat([embedded, inner_state], dim=-1)
    state = inner_state if head.checkpoint.config.get("norm_before_residual") else state
    q, k, v = ((read @ w[f"midlayer.self_attn.{name}_proj.weight"].T).view(len(TOKENS), -1, s.head_size) for name in "qkv")
    q, k = turned(q, s.rope_theta), turned(k, s.rope_theta)
    heads = torch.zeros(len(TOKENS), s.heads, s.head_size)
    for row in range(len(TOKENS)):
        for one in range(s.heads):
            shared = one * s.kv_heads // s.heads
            weights = (k[: row + 1, shared] @ q[row, one] / s.head_size**0.5).softmax(0)
            heads[row, one] = weights @ v[: row + 1, shared]
    x = state + heads.flatten(1) @ w["midlayer.self_attn.o_proj.weight"].T
    h = normed(x, w["midlayer.post_attention_layernorm.weight"], s.norm_eps)
    inner = F.silu(h @ w["midlayer.mlp.gate_proj.weight"].T) * (h @ w["midlayer.mlp.up_proj.weight"].T)
    x = x + inner @ w["midlayer.mlp.down_proj.weight"].T
    return x, normed(x, w["norm.weight"], s.norm_eps) @ w["lm_head.weight"].T


def test_states_and_confidences_are_those_of_the_layer_written_out(head, tiny_target, taps):
    states = head.forward(TOKENS, head.fuse(taps))
    wanted, logits = written_out(head, tiny_target, taps)
    torch.testing.assert_close(states, wanted, atol=1e-4, rtol=1e-4)
    other = torch.zeros(len(TOKENS), 1)  # the untrained row for all tokens outside the draft vocabulary
    probabilities = torch.cat([logits, other], dim=-1).softmax(-1)[:, :-1]
    torch.testing.assert_close(head.probabilities(states, [1] * 5), probabilities, atol=1e-5, rtol=1e-4)


def test_the_context_is_read(head, taps):
    """Another first row changes what the last row says: attention looks at more than the last row."""
    other = taps.clone()
    other[0] = -other[0]
    one, two = (head.forward(TOKENS, head.fuse(t))[-1] for t in (taps, other))
    assert (one - two).abs().max() > 1e-3


def test_it_is_kept_on_disk_and_read_back(head, tiny_target, taps, tmp_path):
    head.save(tmp_path, torch.float32)
    again = Head.load(tmp_path, tiny_target)
    assert again.taps == (0, 1, 2) and read_head(tmp_path).is_eagle3
    torch.testing.assert_close(again.forward(TOKENS, again.fuse(taps)), head.forward(TOKENS, head.fuse(taps)))


def other_row(head: Head) -> HeadCheckpoint:
    """The same head's files with a row for all other tokens that says something."""
    generator = torch.Generator().manual_seed(3)
    row = {"other.weight": torch.randn(1, 32, generator=generator), "other.bias": torch.tensor([0.25])}
    return replace(head.checkpoint, tensors={**head.checkpoint.tensors, **row})


def test_files_hold_the_published_tensors_alone_and_the_row_for_other_tokens_in_the_config(head, tiny_target, taps, tmp_path):
    """An engine that knows `midlayer.*`, `fc`, `norm`, `lm_head`, `d2t` and `t2d` finds nothing else; ours loses nothing."""
    whole = Head(other_row(head), tiny_target)
    whole.save(tmp_path, torch.float32)
    published = {"fc.weight", "norm.weight", "lm_head.weight", "d2t", "t2d"}
    assert {key for key in load_file(tmp_path / "model.safetensors") if not key.startswith("midlayer.")} == published
    again, guesses = Head.load(tmp_path, tiny_target), head.forward(TOKENS, head.fuse(taps))
    torch.testing.assert_close(again.probabilities(guesses, [1] * 5), whole.probabilities(guesses, [1] * 5))
    assert again.checkpoint.config == whole.checkpoint.config


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1.0], r"field 'eagle_viz.other' is \[1.0\], allowed is a weight"),
        ({"weight": [1.0]}, "allowed is a weight"),
        ({"weight": ["a"], "bias": 0}, "holds something else than numbers"),
        ({"weight": [1.0], "bias": 0}, r"key 'other.weight' has shape \[1, 1\], expected \[1, 32\]"),
    ],
)
def test_a_broken_row_for_other_tokens_is_named(head, tiny_target, tmp_path, row, message):
    head.save(tmp_path, torch.float32)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"eagle_viz": {"other": row}}))
    with pytest.raises(HeadError, match=message):
        Head.load(tmp_path, tiny_target)


def test_a_chain_of_240_levels_stays_finite(head, tiny_target):
    """The state goes on un-normed but is read normed, so that it grows by about the same step at each level."""
    run = generate(tiny_target, HeadDrafter(head), [2, 17, 40], {"chain": (Chain(), 240)}, Settings(max_new_tokens=4))
    confidences = next(iter(run)).drafts["chain"].tree.confidences
    assert len(confidences) == 241 and ((confidences > 0) & (confidences <= 1)).all()


@pytest.mark.parametrize("key", ["fc.weight", "norm.weight", "lm_head.weight", "midlayer.hidden_norm.weight"])
def test_a_missing_tensor_is_named(head, tiny_target, key):
    left = {k: t for k, t in head.checkpoint.tensors.items() if k != key}
    with pytest.raises(HeadError, match=f"key '{key}' is missing"):
        Head(replace(head.checkpoint, tensors=left), tiny_target)


def test_the_layers_read_are_the_second_the_middle_and_the_last_but_two():
    assert eagle3_taps(30) == (2, 15, 27) and eagle3_taps(32) == (2, 16, 29)
    with pytest.raises(HeadError, match="this one has 4 layers"):
        eagle3_taps(4)
