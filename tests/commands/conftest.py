"""A tiny random target and head in folders, for commands that need a model."""

import pytest
import torch

from eagle_viz.engine.head import Head
from eagle_viz.engine.target import Target
from tests.engine.tiny import tiny_llama, tiny_tokenizer


@pytest.fixture(scope="module")
def one_thread():
    """Threads only wait for each other on a model this small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(one_thread, tmp_path_factory):
    place = tmp_path_factory.mktemp("target")
    tiny_llama().save_pretrained(place)
    tiny_tokenizer().save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def head(folder, tmp_path_factory):
    place = tmp_path_factory.mktemp("head")
    Head.random(Target.load(folder), draft_vocabulary=64).save(place)
    return place
