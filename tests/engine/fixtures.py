"""The tiny random target, built once a session."""

import pytest
from transformers import LlamaForCausalLM

from eagle_viz.engine.target import Target
from tests.engine.tiny import tiny_llama, tiny_tokenizer


@pytest.fixture(scope="session")
def hf_llama() -> LlamaForCausalLM:
    return tiny_llama()


@pytest.fixture(scope="session")
def tiny_target(hf_llama) -> Target:
    return Target(hf_llama, tiny_tokenizer())
