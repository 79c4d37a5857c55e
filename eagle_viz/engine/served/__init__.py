"""A model behind a server (vLLM, SGLang, llama.cpp) as one more landscape; no torch."""

from .client import KEY_VARIABLE, TARGET_KEY_VARIABLE, Cancelled, Client, ServedError
from .landscape import ServedLandscape
from .model import ServedModel
from .recorder import Pair, ServedRun, record_served
from .vocabulary import same_vocabulary

__all__ = [
    "KEY_VARIABLE",
    "TARGET_KEY_VARIABLE",
    "Cancelled",
    "Client",
    "Pair",
    "ServedError",
    "ServedLandscape",
    "ServedModel",
    "ServedRun",
    "record_served",
    "same_vocabulary",
]
