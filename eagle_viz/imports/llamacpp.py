"""llama.cpp: ``timings`` of a response of llama-server, and its log line "draft acceptance".

Fields as in ggml-org/llama.cpp tools/server/server-context.cpp (``print_timing``: "draft acceptance rate = 0.57576 (  171
accepted /   297 generated)", since mid 2026 "draft acceptance = 0.84783 (   39 accepted /    46 generated), mean len =  2.70"
with "acc per pos = (...)" below it) and server-task.cpp (``result_timings::to_json``: ``draft_n``, ``draft_n_accepted`` and
``predicted_n``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from .acceptance import Acceptance
from .document import Document, whole
from .printed import Printed, pooled_prints, printed_figures
from .requests import Request, latest, pooled

TIMINGS = (
    "llama.cpp's draft acceptance is accepted / drafted tokens; shown is (new tokens - 1) / passes, where each pass adds its "
    "accepted drafts and one token of the target's own. Passes without a draft count; tokens cut off at the limit do not."
)
MEAN = "llama.cpp's mean len is 1 + accepted / verify passes, the bonus token counted: the same as tau here."


def read_timings(document: Document) -> Acceptance | None:
    """``timings`` of one response or many; None where no response drafted."""
    records = latest(_timings(document)) or [(None, record) for record in document.named("timings")]
    drafted = [record for _, record in records if record.get("draft_n") is not None]
    return pooled("llama.cpp-timings", TIMINGS, [_request(record) for record in drafted]) if drafted else None


def _timings(document: Document) -> Iterator[tuple[object, Mapping]]:
    """Timings with their answer's id. A stream may tell them with every token, and a verbose answer twice."""
    for value in document.values:
        if isinstance(value, dict) and value.get("stop") is not False:
            found = value.get("timings", value)
            if isinstance(found, dict) and "draft_n" in found:
                yield value.get("id"), found


def _request(record: Mapping) -> Request:
    return _counted(whole(record, "predicted_n"), whole(record, "draft_n_accepted"), whole(record, "draft_n"))


def _counted(tokens: int | None, accepted: int | None, drafted: int | None) -> Request:
    """The first new token is the prompt pass's; each later pass adds its accepted drafts and one more token."""
    passes = None if tokens is None or accepted is None else max(tokens - 1 - accepted, 0)
    return Request(passes or None, accepted, drafted)


_EVAL = re.compile(r"(prompt )?eval time =\s*[\d.]+ ms /\s*(\d+) (?:tokens|runs)")
_LINE = re.compile(r"draft acceptance(?: rate)? =\s*[\d.]+ \(\s*(\d+) accepted /\s*(\d+) generated\)(?:, mean len =\s*([\d.]+))?")
_BY_POSITION = re.compile(r"acc per pos = \(([\d., ]*)\)")


def read_log(document: Document) -> Acceptance | None:
    """The server's log, all its lines "draft acceptance" together; None where there is none."""
    requests: list[Request] = []
    prints: list[Printed] = []
    tokens = None
    for line in document.text.splitlines():
        if (found := _EVAL.search(line)) and not found[1]:
            tokens = int(found[2])
        elif found := _LINE.search(line):
            requests.append(_counted(tokens, int(found[1]), int(found[2])))
            means = printed_figures("mean len", found[3] or "")
            prints += [Printed(mean, int(found[1]), int(found[2])) for mean in means]
            tokens = None
        elif (found := _BY_POSITION.search(line)) and prints:
            last = prints.pop()
            prints.append(replace(last, rates=printed_figures("acc per pos", found[1])))
    if not requests:
        return None
    if len(prints) == len(requests):
        return pooled_prints("llama.cpp-log", MEAN, prints)
    return pooled("llama.cpp-log", TIMINGS, requests)
