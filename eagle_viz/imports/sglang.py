"""SGLang: ``meta_info`` or ``spec_tokens_details`` of responses, ``/server_info``, and the lines of its two benchmarks.

Fields as in sgl-project/sglang: python/sglang/srt/managers/tokenizer_manager.py (2025, with the older names
``spec_accept_token_num``, ``spec_draft_token_num`` and ``spec_accept_histogram``), its ``fill_spec_decoding_meta`` (2026, with
``spec_num_correct_drafts`` and ``spec_correct_drafts_histogram``), entrypoints/openai/utils.py (``spec_tokens_details``),
managers/scheduler.py (``avg_spec_accept_length``: accepted tokens with the bonus / passes), scripts/playground/
bench_speculative.py (commit 01d2a3d) and bench_serving.py (``accept_length``).
"""

from __future__ import annotations

from collections.abc import Mapping

from .acceptance import Acceptance
from .document import Document, counts, number, whole
from .requests import Request, latest, pooled

ACCEPTED = ("spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num")
DRAFTED = ("spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num")
HISTOGRAM = ("spec_correct_drafts_histogram", "spec_accept_histogram")
MEANING = (
    "SGLang's spec_accept_length divides all new tokens by the passes, the prompt pass's own token among them; "
    "shown is 1 + accepted drafts / passes, the bonus token counted."
)
BY_LENGTH = (
    "This SGLang response counts no accepted drafts; shown is (new tokens - 1) / passes: "
    "the first new token comes from the prompt pass."
)
AVERAGE = "SGLang's accept length is tokens a pass, the bonus token counted: the same as tau here."


def read_response(document: Document) -> Acceptance | None:
    """One response or many, with new or older names; None where no record counts verify passes."""
    told = document.named("spec_tokens_details") or document.objects()  # a response may repeat them in its choices' meta_info
    records = [record for _, record in latest((one.get("id"), one) for one in told if "spec_verify_ct" in one)]
    if not records:
        return None
    passes = [whole(record, "spec_verify_ct") for record in records]
    if any(record.get(name) is not None for record in records for name in (*ACCEPTED, *HISTOGRAM)):
        return pooled("sglang-response", MEANING, [_request(record) for record in records])
    tokens = [whole(record, "completion_tokens") for record in records]
    if None in tokens or None in passes or not sum(passes):
        return pooled("sglang-response", AVERAGE, [_request(record) for record in records], said_tau=_said(records))
    said = sum(count - 1 for count, verified in zip(tokens, passes, strict=True) if verified) / sum(passes)
    return pooled("sglang-response", BY_LENGTH, [_request(record) for record in records], said_tau=said)


def _said(records: list[Mapping]) -> float | None:
    return number(records[0], "spec_accept_length") if len(records) == 1 else None


def _request(record: Mapping) -> Request:
    histogram = counts(record, *HISTOGRAM)
    return Request(whole(record, "spec_verify_ct"), whole(record, *ACCEPTED), whole(record, *DRAFTED), histogram)


def read_server_info(document: Document) -> Acceptance | None:
    """``/server_info`` (older: ``/get_server_info``); None where it has no ``avg_spec_accept_length``."""
    states = [found for found in document.objects() if "avg_spec_accept_length" in found]
    if not states:
        return None
    lengths = [number(state, "avg_spec_accept_length") for state in states]
    known = [length for length in lengths if length is not None]
    if not known:
        raise ValueError("avg_spec_accept_length: null given, so the server has not drafted yet")
    info = next((found for found in document.objects() if "speculative_num_steps" in found), {})
    many = "" if len(known) == 1 else f"{len(known)} workers report {', '.join(f'{length:.3g}' for length in known)}: their"
    return Acceptance(
        "sglang-server-info",
        AVERAGE,
        said_tau=known[0] if len(known) == 1 else None,
        steps=whole(info, "speculative_num_steps"),
        draft_slots=whole(info, "speculative_num_draft_tokens"),
        remarks=(f"{many} passes are not told, so no common tau is shown.",) if many else (),
    )


def read_benchmark(document: Document) -> Acceptance | None:
    """Lines of ``bench_speculative.py`` or ``bench_serving``; None where no line has an accept length."""
    lines = [line for line in document.values if isinstance(line, dict)]
    settings = [line for line in lines if {"acc_length", "num_draft_tokens", "steps"} <= line.keys()]
    drafting = [line for line in settings if whole(line, "steps")]
    if settings and not drafting:
        raise ValueError("steps: 0 in every line, so none of these runs drafted")
    if drafting:
        return _benchmarked(drafting, "acc_length", _setting, whole(drafting[0], "steps"), whole(drafting[0], "num_draft_tokens"))
    served = [line for line in lines if "accept_length" in line and "backend" in line]
    if not served:
        return None
    if all(line["accept_length"] is None for line in served):
        raise ValueError("accept_length: null given, so the server did not draft while it was measured")
    return _benchmarked(served, "accept_length", lambda line: f"concurrency {line.get('max_concurrency')}")


def _setting(line: Mapping) -> str:
    parts = ("batch_size", "steps", "topk", "num_draft_tokens")
    return ", ".join(f"{part} {line[part]}" for part in parts if part in line)


def _benchmarked(lines: list[Mapping], field: str, label, steps: int | None = None, slots: int | None = None) -> Acceptance:
    if len(lines) == 1:
        return Acceptance("sglang-bench", AVERAGE, said_tau=number(lines[0], field), steps=steps, draft_slots=slots)
    told = tuple(f"{label(line)}: accept length {number(line, field) or 0:.3g}." for line in lines)
    remark = f"{len(lines)} runs in this file, so no common tau is shown; give a file of one line for one of them."
    return Acceptance("sglang-bench", AVERAGE, remarks=(remark, *told))
