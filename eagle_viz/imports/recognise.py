"""Which reader a file is for, found by its content; names and endings of files are not looked at."""

from __future__ import annotations

from collections.abc import Callable

from . import eagle, llamacpp, nvidia, sglang, vllm
from .acceptance import Acceptance
from .document import Document

MAX_BYTES = 64 * 2**20
READERS: tuple[Callable[[Document], Acceptance | None], ...] = (
    nvidia.read_aiperf,
    vllm.read_response,
    nvidia.read_tensorrt,
    sglang.read_response,
    sglang.read_server_info,
    sglang.read_benchmark,
    llamacpp.read_timings,
    eagle.read_answers,
    vllm.read_metrics,
    vllm.read_log,
    llamacpp.read_log,
)
"""The first that knows the file reads it. AIPerf first: its records may hold the responses of other engines whole."""
FORMATS = (
    "vLLM responses, /metrics or log",
    "SGLang responses, /server_info or benchmark lines",
    "AIPerf records",
    "TensorRT-LLM performance metrics",
    "llama.cpp timings or log",
    "EAGLE answer files",
)


class UnknownFormatError(ValueError):
    """A file in which no reader knows anything."""


def read_acceptance(content: bytes) -> Acceptance:
    """Read what an engine wrote about its speculative decoding.

    Raises ``UnknownFormatError`` where no reader knows the file, another ``ValueError`` where one does but finds something wrong.

    >>> text = b'{"metrics": {"speculative_decoding": {"mean_acceptance_length": 1.5, "num_spec_steps": 2,'
    >>> read_acceptance(text + b' "num_accepted_draft_tokens": 1, "acceptance_histogram": [1, 1]}}}').tau
    1.5
    """
    if len(content) > MAX_BYTES:
        raise ValueError(f"file: {len(content) / 2**20:.0f} MB given, allowed is at most {MAX_BYTES // 2**20} MB")
    document = Document.of(content)
    for read in READERS:
        found = read(document)
        if found is not None:
            return found
    raise UnknownFormatError(f"file: no acceptance numbers found in it, allowed are {'; '.join(FORMATS)}")
