"""Targets whose layers accelerate has placed, and what they need: the same answers, the memory said before anything is loaded.

No device but the processor is at hand in the tests: layers that lie on disk until they are needed pass through the same hooks.
"""

import json

import numpy as np
import pytest
import torch

from eagle_viz import POLICIES
from eagle_viz.engine.drafted import HeadDrafter, OracleDrafter
from eagle_viz.engine.generation import generate
from eagle_viz.engine.head import Head
from eagle_viz.engine.memory import devices, need_of
from eagle_viz.engine.placed import TransformersBody
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target
from tests.engine.tiny import hf_greedy, tiny_llama, tiny_tokenizer


@pytest.fixture
def elsewhere(tmp_path):
    """The tiny target, every weight on disk until it is needed."""
    from accelerate import disk_offload

    model = disk_offload(tiny_llama(), tmp_path, execution_device="cpu")
    assert all(weight.device.type == "meta" for weight in model.parameters())
    return Target(model, tiny_tokenizer(), placed=True)


@pytest.mark.parametrize("drafter", ["oracle", "head"])
def test_a_target_placed_elsewhere_writes_the_same_text(elsewhere, drafter):
    """Drafted answers equal the plain greedy ones of the model in one piece."""
    made = OracleDrafter(elsewhere) if drafter == "oracle" else HeadDrafter(Head.random(elsewhere, draft_vocabulary=60))
    run = generate(elsewhere, made, [5, 9, 33], {"eagle2": (POLICIES["eagle2"](top_k=4, max_depth=3), 10)}, Settings(12))
    assert sum(len(cycle.tokens) for cycle in run) == len(run.tokens) - 1
    assert run.tokens == hf_greedy(tiny_llama(), [5, 9, 33], 12)
    assert elsewhere.embeddings.device.type == elsewhere.lm_head_weight.device.type == "cpu"


def test_placed_and_lean_logits_agree(tmp_path):
    """The same folder, loaded either way."""
    tiny_llama().save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    lean, placed = Target.load(tmp_path), Target.load(tmp_path, placed=True)
    assert isinstance(placed.body, TransformersBody) and not isinstance(lean.body, TransformersBody)
    ours, theirs = (target.forward([5, 9, 33, 70]).logits.numpy() for target in (lean, placed))
    np.testing.assert_allclose(ours, theirs, atol=2e-5)
    assert Target.load(tmp_path, torch.bfloat16, placed=True).forward([5, 9]).logits.dtype == torch.bfloat16


def test_the_memory_needed_is_counted_from_the_files(tmp_path):
    """Parameters of every shard, 4 bytes to read and 2 to compute with in bfloat16, the lm_head once more."""
    model = tiny_llama()
    model.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    parameters, head = sum(weight.numel() for weight in model.parameters()), 96 * 32
    for dtype, placed, wanted in (
        ("float32", False, 8 * parameters + 4 * head),
        ("bfloat16", False, 6 * parameters + 2 * head),
        ("bfloat16", True, 2 * parameters + 2 * head),
    ):
        need = need_of(tmp_path, dtype, placed)
        assert need.parameters == parameters and need.bytes == wanted + 150 * 10**6


def test_what_does_not_fit_is_refused_with_what_may_help(tmp_path):
    tiny_llama().save_pretrained(tmp_path)
    need = need_of(tmp_path, "float32")
    need.check(10**9)
    with pytest.raises(ValueError, match=r"0\.2 GB to load in float32; 0\.0 GB are free; --dtype bfloat16 needs less; a server"):
        need.check(10**7)


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 20, (9).to_bytes(8, "little") + b"[1, 2, 3]", (5).to_bytes(8, "little") + b"{nope"]
)
def test_files_without_a_header_tell_nothing(tmp_path, content):
    (tmp_path / "model.safetensors").write_bytes(content)
    assert need_of(tmp_path, "float32") is None and need_of("an/id", "float32") is None


def test_devices_are_what_is_not_this_machines_memory():
    assert devices({"0": 1, "cpu": 2, "disk": 3, "mps": 4}) == ["0", "mps"]


def test_headers_of_other_files_in_the_folder_do_not_count(tmp_path):
    """A GGUF file or a config beside the weights is no weight."""
    tiny_llama().save_pretrained(tmp_path)
    before = need_of(tmp_path, "float32")
    (tmp_path / "other.gguf").write_bytes(b"GGUF")
    (tmp_path / "more.json").write_text(json.dumps({"shape": [9, 9]}))
    assert need_of(tmp_path, "float32") == before
