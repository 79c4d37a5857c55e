"""The tiny random target for the tests of this folder."""

from tests.engine.fixtures import hf_llama, tiny_target

__all__ = ["hf_llama", "tiny_target"]
