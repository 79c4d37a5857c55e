"""Counts of single requests put together: what the readers of per-request records share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .acceptance import Acceptance, added, reached_from_histogram
from .document import counts, tokens_by_step, total, whole


@dataclass(frozen=True)
class Request:
    """The counts of one request, None where its record has none: passes, accepted and drafted tokens, histogram of accepted."""

    passes: int | None = None
    accepted: int | None = None
    drafted: int | None = None
    histogram: Sequence[int] | None = None


def latest(records: Iterable[tuple[object, Mapping]]) -> list[tuple[object, Mapping]]:
    """The last record of each id, because a stream tells the counts so far again and again; records without an id all stay.

    >>> latest([("a", {"n": 1}), (None, {"n": 5}), ("a", {"n": 2})])
    [('a', {'n': 2}), (None, {'n': 5})]
    """
    kept: dict[object, tuple[object, Mapping]] = {}
    for place, (name, record) in enumerate(records):
        kept[name if isinstance(name, str) else place] = (name, record)
    return list(kept.values())


def named_request(record: Mapping) -> Request:
    """The counts of a record with vLLM's field names, also AIPerf's; a missing histogram is made from the list of passes."""
    steps = counts(record, "per_step_accepted")
    histogram = counts(record, "acceptance_histogram") or (tokens_by_step("per_step_accepted", steps) if steps else None)
    passes, accepted = whole(record, "num_spec_steps"), whole(record, "num_accepted_draft_tokens")
    return Request(passes, accepted, whole(record, "num_draft_tokens"), histogram)


def pooled(format: str, meaning: str, requests: Sequence[Request], **more: object) -> Acceptance:
    """One ``Acceptance`` of all requests; a number that one request lacks is unknown for all, so that no total mixes them.

    Requests without a single pass are left out. Raises ``ValueError`` where none is left.
    """
    some = [request for request in requests if request.passes != 0]
    if requests and not some:
        raise ValueError(f"passes: 0 counted in this {format} file, so nothing was drafted while it was measured")
    histograms = [request.histogram for request in some]
    whole = all(histograms)
    histogram = added(histograms) if whole else ()
    passes = total([request.passes for request in some])
    accepted = total([request.accepted for request in some])
    if whole:
        passes = sum(histogram) if passes is None else passes
        accepted = sum(count * index for index, count in enumerate(histogram)) if accepted is None else accepted
    return Acceptance(
        format,
        meaning,
        passes=passes,
        accepted=accepted,
        drafted=total([request.drafted for request in some]),
        reached=reached_from_histogram(histogram),
        **more,
    )
