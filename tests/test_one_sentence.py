"""Broken files, servers and checkpoints: each ends in one clear sentence, whichever door it comes in by."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from eagle_viz.core import recording
from eagle_viz.engine.checkpoint import read_head
from eagle_viz.engine.head import Head
from eagle_viz.engine.served import Client, ServedLandscape, ServedModel, same_vocabulary
from eagle_viz.engine.target import Target
from eagle_viz.ui.opened import recognise
from tests.engine.served.fake import KEY, Model, serving
from tests.engine.test_specforge import CONFIG, tensors
from tests.engine.tiny import tiny_llama, tiny_target, tiny_tokenizer

SHIPPED = next(iter(recording.shipped().values())).read_bytes()


def archive(**arrays) -> bytes:
    """An .npz file of these arrays."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def reheaded(**changes) -> bytes:
    """A shipped recording whose header says something else."""
    with np.load(io.BytesIO(SHIPPED)) as found:
        arrays = {name: found[name] for name in found.files}
    header = json.loads(arrays["header"].tobytes()) | changes
    return archive(**arrays | {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)})


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(name, content)
    return file.getvalue()


TREES = {"version": 1, "static": {"nodes": [{"path": "0", "confidence": 0.1}, {"path": "1", "confidence": 0.2}]}}
FILES = {
    "empty": (b"", "allowed"),
    "noise": (bytes(range(256)) * 9, "allowed"),
    "a table": (b"name,value\na,1\n", "allowed"),
    "cut recording": (SHIPPED[: len(SHIPPED) // 2], "is not a recording"),
    "zip of something": (zipped("a.txt", b"hello"), "is not a recording"),
    "recording of another version": (reheaded(version=7), "has version 7"),
    "recording without passes": (reheaded(cycles=[]), "holds no cycle"),
    "recording with too few texts": (reheaded(pieces=["a"]), "1 pieces of text"),
    "pickled array": (zipped("header.npy", pickle.dumps([1])), "is not a recording"),
    "nested too deep": (b"[" * 100_000, "allowed"),
    "trees without a second one": (json.dumps(TREES).encode(), "nodes: missing"),
    "node list with words": (b"[[0], ['a']]", "choices"),
    "node list without parents": (b"[[0, 0]]", "0.0 given without its parent 0"),
    "simulation of another version": (b'{"version": 3, "rows": []}', "version: 3 given in the simulation"),
    "simulation with a tau below 1": (
        b'{"version": 1, "rows": [{"policy": "chain", "budget": 3, "tau": 0.2, "passes": 3}]}',
        "row 1 has tau 0.2",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_broken_file_is_one_sentence(name):
    """As the page opens it."""
    content, words = FILES[name]
    with pytest.raises(ValueError) as caught:
        recognise(f"{name}.bin", content)
    check_sentence(caught.value, words)


def drawn(fake, top_k=4, **settings):
    """One frontier asked from a server."""
    ServedLandscape(fake.url, [3, 17, 5], top_k, retries=0, **settings).expand([()])


def change(place, value):
    """A twist that overwrites one field of every answer of SGLang."""

    def twist(answers):
        for one in answers:
            one["meta_info"][place] = value
        return answers

    return twist


def other_vocabulary(fake):
    with serving("vllm", model=Model(shifted=1)) as other:
        same_vocabulary(ServedModel.find(Client(other.url)), ServedModel.find(Client(fake.url)))


SERVERS = {
    "one that is none": ({"engine": "someone"}, drawn, "calls itself 'someone'"),
    "one with a key": ({"engine": "vllm", "key": KEY}, drawn, "refuses the key (401)"),
    "one without this model": ({"engine": "vllm"}, lambda fake: drawn(fake, model="big"), "model 'big' is not served here"),
    "one that redirects": ({"engine": "vllm", "statuses": [307]}, drawn, "sends us to another address (307)"),
    "one that is overloaded": ({"engine": "vllm", "statuses": [503]}, drawn, "answered 503"),
    "one that limits log-probabilities": ({"engine": "vllm", "statuses": [400]}, drawn, "greater than max allowed: 20"),
    "one that is too slow": (
        {"engine": "vllm", "delay": 0.5},
        lambda fake: drawn(fake, timeout=0.1),
        "no answer within 0.1 seconds",
    ),
    "one with a small vocabulary": ({"engine": "vllm"}, lambda fake: drawn(fake, 41), "40 log-probabilities told, 41 asked"),
    "one that answers a text": ({"engine": "vllm", "twist": lambda answer: "hello"}, drawn, "did not answer in JSON"),
    "one that answers nothing": ({"engine": "sglang", "twist": lambda answer: []}, drawn, "0 answers to 1 prompts"),
    "one without ids": ({"engine": "sglang", "twist": change("output_top_logprobs", [[[-1.0]]])}, drawn, "lacks token ids"),
    "one with odd numbers": (
        {"engine": "sglang", "twist": change("output_top_logprobs", [[[float("nan"), 3, None]]])},
        drawn,
        "not a finite number",
    ),
    "one that samples": (
        {"engine": "sglang", "twist": change("output_token_logprobs", [[-9.0, 39, None]])},
        drawn,
        "samples instead",
    ),
    "one with other tokens": ({"engine": "vllm"}, other_vocabulary, "have different vocabularies"),
}


@pytest.mark.parametrize("name", SERVERS)
def test_a_broken_server_is_one_sentence(name):
    settings, ask, words = SERVERS[name]
    with serving(**settings) as fake, pytest.raises((ValueError, OSError)) as caught:
        ask(fake)
    check_sentence(caught.value, words)


def head_files(folder, config=CONFIG, found=None):
    """A head in SpecForge's layout, with something wrong in it."""
    save_file(tensors() if found is None else found, folder / "model.safetensors")
    (folder / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))


def without(name):
    return {key: tensor for key, tensor in tensors().items() if key != name}


HEADS = {
    "without weights": (lambda at: (at / "config.json").write_text("{}"), "has no weights"),
    "without a config": (lambda at: save_file(tensors(), at / "model.safetensors"), "config.json' cannot be read"),
    "with a config that is no JSON": (lambda at: head_files(at, "{nope"), "is not JSON"),
    "for another target": (lambda at: head_files(at, CONFIG | {"hidden_size": 64}), "hidden_size is 64, but the target's is 32"),
    "with an unknown field": (lambda at: head_files(at, CONFIG | {"magic": 3}), "'magic' (3) is not known"),
    "without a tensor": (lambda at: head_files(at, found=without("norm.weight")), "norm.weight"),
    "with a tensor of another shape": (lambda at: head_files(at, found=tensors() | {"norm.weight": torch.ones(7)}), "norm.weight"),
    "cut in two": (lambda at: (head_files(at), cut(at / "model.safetensors")), "model.safetensors"),
    "that runs code": (lambda at: ((at / "config.json").write_text("{}"), pickled(at / "pytorch_model.bin")), "pytorch_model.bin"),
    "with an index to nowhere": (
        lambda at: (
            (at / "config.json").write_text("{}"),
            (at / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../b"}}'),
        ),
        "weight_map",
    ),
}


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def pickled(path):
    """A file that would call a function if it were unpickled."""
    torch.save({"fc.weight": Harm()}, path)


class Harm:
    """What must never run."""

    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


@pytest.fixture(scope="module")
def target():
    return tiny_target()


@pytest.mark.parametrize("name", HEADS)
def test_a_broken_head_is_one_sentence(name, tmp_path, target):
    prepare, words = HEADS[name]
    prepare(tmp_path)
    with pytest.raises(ValueError) as caught:
        Head(read_head(tmp_path), target)
    check_sentence(caught.value, words)


def target_files(folder, **changes):
    """The tiny target in its folder, with another config."""
    tiny_llama().save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


TARGETS = {
    "that is empty": lambda at: None,
    "with a config that is no JSON": lambda at: (at / "config.json").write_text("{nope"),
    "of an unknown kind": lambda at: target_files(at, model_type="nobody", architectures=["Nobody"]),
    "cut in two": lambda at: (target_files(at), cut(at / "model.safetensors")),
    "with a layer too many in its config": lambda at: target_files(at, num_hidden_layers=4),
}


@pytest.mark.parametrize("name", TARGETS)
def test_a_broken_target_is_one_sentence(name, tmp_path):
    TARGETS[name](tmp_path)
    with pytest.raises(ValueError) as caught:
        Target.load(tmp_path)
    check_sentence(caught.value, str(tmp_path))


def check_sentence(error, words):
    """One line, not endless, that names what is wrong, without a memory address or the name of a Python exception alone."""
    said = str(error)
    assert words in said and len(said.splitlines()) == 1 and 20 < len(said) < 600
    assert "0x" not in said and "Traceback" not in said
