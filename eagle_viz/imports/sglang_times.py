"""Pass times from the rows of SGLang's speculative benchmark, scripts/playground/bench_speculative.py in sgl-project/sglang.

Rows: ``batch_size``, ``steps``, ``topk``, ``num_draft_tokens`` (the root counted; 0 without drafting), ``acc_length`` (bonus
counted), and ``step_time`` in seconds a step (2025), or ``throughput`` in tokens a second over the batch (2026).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..core.cost import PassCost
from .document import Document, number, whole

NEEDED = {"batch_size", "steps", "num_draft_tokens", "acc_length"}


def read_times(text: str) -> PassCost:
    """The pass times that explain the rows best: step time = t(batch_size * num_draft_tokens) + steps * draft, least squares.

    Without ``step_time`` a step takes batch_size * acc_length / throughput, which then contains a share of the prompts' passes.
    Raises ``ValueError`` naming what is missing: t(1) comes from a run without drafting at batch 1, and the time of a draft pass
    from runs of the same number of positions with different steps.

    >>> rows = [(1, 0, 0, 10e-3), (1, 3, 16, 14e-3), (1, 5, 16, 16e-3)]
    >>> names = ("batch_size", "steps", "num_draft_tokens", "step_time")
    >>> import json
    >>> read_times("\\n".join(json.dumps(dict(zip(names, row)) | {"acc_length": 2}) for row in rows)).text
    '1:10 16:11 draft:1'
    """
    found = [_row(line) for line in Document.of(text.encode()).values if isinstance(line, dict) and NEEDED <= line.keys()]
    if not found:
        raise ValueError(f"rows: none with {', '.join(sorted(NEEDED))} given, allowed are lines of SGLang's bench_speculative.py")
    positions, steps, milliseconds = map(np.array, zip(*found, strict=True))
    sizes = np.unique(positions)
    if sizes[0] != 1 or len(sizes) < 2:
        raise ValueError(
            f"rows: passes over {', '.join(map(str, sizes))} positions given, needed is a run of steps 0 at batch_size 1 "
            "and at least one more size"
        )
    known = (positions[:, None] == sizes).astype(np.float64)
    drafting = np.column_stack([known, steps])
    if np.linalg.matrix_rank(drafting) < len(sizes) + 1:
        raise ValueError(
            "rows: the time of a draft pass cannot be told, needed are two runs of the same batch_size * num_draft_tokens "
            "with different steps"
        )
    fitted = np.linalg.lstsq(drafting, milliseconds, rcond=None)[0]
    if fitted[-1] < 0:  # more steps in less time: noise, so a draft pass is told to cost nothing
        fitted = np.append(np.linalg.lstsq(known, milliseconds, rcond=None)[0], 0.0)
    *times, draft = (float(f"{value:.6g}") for value in fitted)
    return PassCost("SGLang's benchmark", tuple(sizes.tolist()), tuple(times), draft)


def _row(line: Mapping) -> tuple[int, int, float]:
    """Positions of a pass, draft passes and milliseconds of a step; steps 0 is plain decoding, one position a request."""
    batch, steps, slots = (whole(line, name) or 0 for name in ("batch_size", "steps", "num_draft_tokens"))
    seconds, throughput, length = (number(line, name) for name in ("step_time", "throughput", "acc_length"))
    if batch < 1 or (steps and slots < 2):
        raise ValueError(
            f"rows: batch_size {batch}, num_draft_tokens {slots} given, allowed is 1 or more, and 2 or more where steps is not 0"
        )
    if seconds is None:
        if not throughput or not length:
            raise ValueError("rows: neither step_time nor throughput with acc_length given in a row, needed is one of them")
        seconds = batch * length / throughput
    return batch * (slots if steps else 1), steps, 1000 * seconds
