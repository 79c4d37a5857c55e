"""NVIDIA: AIPerf's ``spec_decode_acceptance`` records, and TensorRT-LLM's ``speculative_decoding`` of a request.

Fields as in ai-dynamo/aiperf docs/reference/spec-decode-acceptance.md and docs/tutorials/spec-decode-metrics.md (commit 0786f0c,
AIPerf 0.14) and NVIDIA/TensorRT-LLM tensorrt_llm/serve/openai_server.py (``/perf_metrics``) and the per-choice object that
AIPerf's TensorRT-LLM adapter reads.
"""

from __future__ import annotations

from collections.abc import Mapping

from .acceptance import Acceptance, reached_from_histogram
from .document import Document, counts, number, whole
from .requests import Request, named_request, pooled

AIPERF = "AIPerf's mean_acceptance_length is 1 + accepted / passes, the bonus token counted: the same as tau here."
TENSORRT = "TensorRT-LLM's acceptance_rate is accepted / drafted; shown is 1 + accepted / passes, the bonus token counted."


def read_aiperf(document: Document) -> Acceptance | None:
    """``profile_export.jsonl`` (one record a request) or the pooled histogram of ``profile_export_aiperf.json``."""
    records = document.named("spec_decode_acceptance")
    if records:
        return pooled("aiperf", AIPERF, [named_request(record) for record in records])
    for found in document.objects():
        histogram = counts(found, "pooled_spec_decode_acceptance_histogram")
        if histogram:
            return pooled("aiperf", AIPERF, [Request(histogram=histogram)])
    return None


def read_tensorrt(document: Document) -> Acceptance | None:
    """``/perf_metrics``, ``request_perf_metrics`` or the per-choice object, one request or many; None where there is none."""
    records = [record for record in document.named("speculative_decoding") if "total_accepted_draft_tokens" in record]
    if not records:
        return None
    lengths = [length for found in document.objects() if (length := number(found, "avg_decoded_tokens_per_iter")) is not None]
    requests = [_tensorrt(record) for record in records]
    remarks = () if all(request.passes or request.histogram for request in requests) else (_UNKNOWN,)
    said = lengths[0] if len(lengths) == len(records) == 1 else None
    return pooled("tensorrt-llm", TENSORRT, requests, said_tau=said, remarks=remarks)


_UNKNOWN = "These records do not count verify passes, so neither their number nor acceptance by position is known."


def _tensorrt(record: Mapping) -> Request:
    histogram = counts(record, "acceptance_histogram")
    passes = whole(record, "num_spec_steps")
    if passes is None and histogram:
        passes = reached_from_histogram(histogram)[0]
    return Request(passes, whole(record, "total_accepted_draft_tokens"), whole(record, "total_draft_tokens"), histogram)
