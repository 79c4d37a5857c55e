"""A real llama.cpp server on the same weights that the local target was converted from."""

import numpy as np
import pytest

from eagle_viz import POLICIES
from eagle_viz.core.recording import read, write
from eagle_viz.engine.drafted import OracleDrafter
from eagle_viz.engine.expansion import expand_for
from eagle_viz.engine.fetch import default_target_path
from eagle_viz.engine.prompts import Prompt
from eagle_viz.engine.reader import Reader
from eagle_viz.engine.served import Client, ServedLandscape, ServedModel, record_served
from eagle_viz.engine.target import Target

pytestmark = pytest.mark.real
NOISE = 0.05
"""How far a confidence may differ: llama.cpp rounds activations to 8 bits where it multiplies with Q4_1 weights."""


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
    spoken = [spoken_confidences(tree) for tree in (ours, theirs)]
    shared = spoken[0].keys() & spoken[1].keys()
    differences = np.array([abs(spoken[0][words] - spoken[1][words]) for words in shared])
    print(f"{len(shared)} of 25 nodes shared; confidences differ by {differences.mean():.4f}, at most by {differences.max():.4f}")
    assert len(shared) >= 20
    assert differences.max() < NOISE


def test_a_recording_made_through_the_server(served_url, tmp_path):
    """The chat's token ids are the local tokenizer's, the text is decoded from them, and priced by itself a model tells its own
    confidences again, up to what another batch changes."""
    model = ServedModel.find(Client(served_url))
    prompt = Prompt("rivers", "Rivers", "fact", "Name three rivers.")
    quick = expand_for([POLICIES["eagle2"](top_k=4, max_depth=3)])
    (made,) = record_served(model, model, [prompt], max_new_tokens=6, contexts=2, expand=quick, holds={"policies": ["EAGLE-2"]})
    found = read(write(made, tmp_path / "a.npz"))
    target = Target.load(str(default_target_path()))
    assert list(found.tokens[: found.prompt_length]) == target.encode_chat(prompt.text)
    answer = found.tokens[found.prompt_length : found.prompt_length + found.answer_length]
    assert found.answer == target.decode(list(answer))
    assert (found.target, found.made["server"]) == ("SmolLM2-135M-Instruct.Q4_1", "llama.cpp")
    rows = [row for cycle in found.cycles for row in cycle.landscape.candidates.values()]
    assert max(np.abs(row.confidences - row.target_probabilities).max() for row in rows) < NOISE
    assert all(found.texts[int(token)] for row in rows for token in row.tokens)


def spoken_confidences(tree):
    """Confidences by the tokens along the path, so that two ranks that swap are still one node; the root is left out."""
    found, words = {}, {0: ()}
    for node, parent in list(enumerate(tree.parents))[1:]:
        words[node] = (*words[int(parent)], int(tree.tokens[node]))
        found[words[node]] = float(tree.confidences[node])
    return found
