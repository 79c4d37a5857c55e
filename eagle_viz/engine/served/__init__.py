"""A model behind a server (vLLM, SGLang, llama.cpp) as one more landscape; no torch."""

from .client import Cancelled, ServedError
from .landscape import ServedLandscape

__all__ = ["Cancelled", "ServedError", "ServedLandscape"]
