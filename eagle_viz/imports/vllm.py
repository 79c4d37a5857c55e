"""vLLM: a response's ``metrics.speculative_decoding``, the counters of ``/metrics``, the log line "SpecDecoding metrics".

Fields as in vllm-project/vllm: docs/features/speculative_decoding/acceptance_metrics.md (commit 02cf515, vLLM 0.32) and
vllm/v1/spec_decode/metrics.py (commit 016a858, the same counters and line in 0.32).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .acceptance import Acceptance, added, reached_from_histogram
from .document import Document, check_count, counts, number
from .printed import Printed, pooled_prints, printed_figures
from .requests import named_request, pooled

MEANING = "vLLM's mean acceptance length is 1 + accepted / drafts, the bonus token counted: the same as tau here."


def read_response(document: Document) -> Acceptance | None:
    """Per-request records (``--per-request-spec-decode-metrics``), one response or many; None where the file holds none."""
    records = [record for record in document.named("speculative_decoding") if "mean_acceptance_length" in record]
    if not records:
        return None
    said = number(records[0], "mean_acceptance_length") if len(records) == 1 else None
    requests = [named_request(record) for record in records]
    return pooled("vllm-response", MEANING, requests, said_tau=said, remarks=_by_draft_length(records))


def _by_draft_length(records: Sequence[Mapping]) -> tuple[str, ...]:
    """A sentence where drafts had different lengths: the rates among the passes that drafted a token at that position."""
    rows: dict[int, tuple[int, ...]] = {}
    for record in records:
        by_length = record.get("acceptance_histogram_by_draft_length")
        for length in by_length if isinstance(by_length, dict) else ():
            drafted = check_count("draft length", int(length) if length.isdigit() and len(length) < 5 else length)
            rows[drafted] = added([rows.get(drafted, ()), reached_from_histogram(counts(by_length, length) or [])])
    if len(rows) < 2:
        return ()
    rates = ", ".join(_offered(rows, position) for position in range(1, max(rows) + 1))
    lengths = f"{min(rows)} to {max(rows)}"
    return (f"Drafts had {lengths} tokens; among the passes that drafted one there, the rates by position are {rates}.",)


def _offered(rows: Mapping[int, tuple[int, ...]], position: int) -> str:
    long_enough = [row for length, row in rows.items() if length >= position]
    before, here = (sum(row[index] for row in long_enough if index < len(row)) for index in (position - 1, position))
    return f"{here / before:.3f}" if before else "unknown"


_COUNTER = re.compile(
    r"^(?:vllm|llamacpp):spec_decode_num_(drafts|draft_tokens|accepted_tokens|accepted_tokens_per_pos)(?:_total)?(\{.*\})?\s+(\S+)"
)
_POSITION = re.compile(r'position="(\d{1,4})"')


def read_metrics(document: Document) -> Acceptance | None:
    """Prometheus text from ``/metrics``, all engines of the file together; None where it has none of these counters.

    llama.cpp's server has counters of the same names and meaning, without those by position.

    Raises ``ValueError`` where one counter stands there twice: two snapshots must not be added.
    """
    totals: dict[str, int] = {}
    by_position: dict[int, int] = {}
    seen: set[tuple[str, str]] = set()
    for name, labels, value in _counters(document.text):
        if (name, labels) in seen:
            raise ValueError(f"spec_decode_num_{name}: twice in the file, allowed is one snapshot of /metrics")
        seen.add((name, labels))
        if name == "accepted_tokens_per_pos":
            place = _POSITION.search(labels)
            if place is None:
                raise ValueError('accepted_tokens_per_pos: no position label, allowed is position="0" and up')
            by_position[int(place[1])] = by_position.get(int(place[1]), 0) + value
        else:
            totals[name] = totals.get(name, 0) + value
    if "drafts" not in totals:
        return None
    reached = (totals["drafts"], *(by_position.get(place, 0) for place in range(max(by_position) + 1))) if by_position else ()
    ours = "vllm:spec_decode" in document.text
    return Acceptance(
        "vllm-metrics" if ours else "llama.cpp-metrics",
        MEANING if ours else "These counters have no tau of their own; shown is 1 + accepted / drafts, the bonus token counted.",
        passes=totals["drafts"],
        accepted=totals.get("accepted_tokens"),
        drafted=totals.get("draft_tokens"),
        reached=reached,
        remarks=("These counters run since the server started: warm-up requests are among them.",),
    )


def _counters(text: str) -> list[tuple[str, str, int]]:
    found = [match for line in text.splitlines() if (match := _COUNTER.match(line.strip()))]
    return [(match[1], match[2] or "", _value(match[1], match[3])) for match in found]


def _value(name: str, word: str) -> int:
    try:
        return check_count(name, float(word))
    except (ValueError, OverflowError):
        raise ValueError(f"spec_decode_num_{name}: {word[:40]!r} given, allowed is a whole number from 0") from None


_LINE = re.compile(
    r"SpecDecoding metrics: Mean acceptance length: ([\d.]+), .*?Accepted: (\d+) tokens, Drafted: (\d+) tokens, "
    r"Per-position acceptance rate: ([\d., ]+?),? Avg Draft acceptance rate"
)


def read_log(document: Document) -> Acceptance | None:
    """The server's log, all its lines "SpecDecoding metrics" together; None where there is none."""
    found = _LINE.findall(document.text)
    if not found:
        return None
    return pooled_prints("vllm-log", MEANING, [_printed(*figures) for figures in found])


def _printed(mean: str, accepted: str, drafted: str, rates: str) -> Printed:
    (length,) = printed_figures("Mean acceptance length", mean)
    return Printed(length, int(accepted), int(drafted), printed_figures("Per-position acceptance rate", rates))
