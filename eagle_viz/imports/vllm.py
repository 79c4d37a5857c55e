"""vLLM: a response's ``metrics.speculative_decoding``, the counters of ``/metrics``, the log line "SpecDecoding metrics".

Fields as in vllm-project/vllm: docs/features/speculative_decoding/acceptance_metrics.md (commit 02cf515, vLLM 0.32) and
vllm/v1/spec_decode/metrics.py (commit 016a858, the same counters and line in 0.32).
"""

from __future__ import annotations

import re

from .acceptance import Acceptance
from .document import Document, check_count, number
from .printed import Printed, pooled_prints
from .requests import named_request, pooled

MEANING = "vLLM's mean acceptance length is 1 + accepted / drafts, the bonus token counted: the same as tau here."


def read_response(document: Document) -> Acceptance | None:
    """Per-request records (``--per-request-spec-decode-metrics``), one response or many; None where the file holds none."""
    records = [record for record in document.named("speculative_decoding") if "mean_acceptance_length" in record]
    if not records:
        return None
    said = number(records[0], "mean_acceptance_length") if len(records) == 1 else None
    return pooled("vllm-response", MEANING, [named_request(record) for record in records], said_tau=said)


_COUNTER = re.compile(
    r"^vllm:spec_decode_num_(drafts|draft_tokens|accepted_tokens|accepted_tokens_per_pos)(?:_total)?(\{.*\})?\s+(\S+)"
)
_POSITION = re.compile(r'position="(\d{1,4})"')


def read_metrics(document: Document) -> Acceptance | None:
    """Prometheus text from ``/metrics``, all engines of the file together; None where it has none of these counters.

    Raises ``ValueError`` where one counter stands there twice: two snapshots must not be added.
    """
    totals: dict[str, int] = {}
    by_position: dict[int, int] = {}
    seen: set[tuple[str, str]] = set()
    for name, labels, value in _counters(document.text):
        if (name, labels) in seen:
            raise ValueError(f"vllm:spec_decode_num_{name}: twice in the file, allowed is one snapshot of /metrics")
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
    return Acceptance(
        "vllm-metrics",
        MEANING,
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
        raise ValueError(f"vllm:spec_decode_num_{name}: {word[:40]!r} given, allowed is a whole number from 0") from None


_LINE = re.compile(
    r"SpecDecoding metrics: Mean acceptance length: ([\d.]+), .*?Accepted: (\d+) tokens, Drafted: (\d+) tokens, "
    r"Per-position acceptance rate: ([\d., ]+?),? Avg Draft acceptance rate"
)


def read_log(document: Document) -> Acceptance | None:
    """The server's log, all its lines "SpecDecoding metrics" together; None where there is none."""
    found = _LINE.findall(document.text)
    if not found:
        return None
    prints = [Printed(float(mean), int(taken), int(drafted), _rates(rates)) for mean, taken, drafted, rates in found]
    return pooled_prints("vllm-log", MEANING, prints)


def _rates(words: str) -> tuple[float, ...]:
    return tuple(float(word) for word in words.split(",") if word.strip())
