"""Pass times estimated from data sheets: a pass reads the weights once or computes, whichever takes longer. Never measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .cost import PassCost

DRAFT_SHARE = 374 / 8030
"""Weights that a draft pass reads, of the target's: an EAGLE-3 head of Llama-3.1-8B with 32,000 draft tokens has 243 M in its layer
and 131 M in its lm_head; the target has 8,030 M."""
OVERHEAD_MS = 1.0
"""Supposed: what a target pass takes beside reading and computing (launching kernels, attention, sampling)."""
FARTHEST = 16
"""The estimated line is given up to so many times the size at which computing begins to take longer than reading."""


@dataclass(frozen=True)
class Accelerator:
    """One chip: memory ``bandwidth`` in GB/s and ``peak`` in dense 16-bit TFLOP/s with 32-bit sums, with their ``source``."""

    name: str
    bandwidth: float
    peak: float
    source: str


ACCELERATORS: dict[str, Accelerator] = {
    "l4": Accelerator("NVIDIA L4", 300, 121, "NVIDIA L4 data sheet: 300 GB/s, 242 TFLOPS with sparsity, half of it dense"),
    "rtx4090": Accelerator(
        "NVIDIA RTX 4090", 1008, 165.2, "NVIDIA Ada architecture white paper, appendix A: 1,008 GB/s, 165.2 TFLOPS"
    ),
    "l40s": Accelerator("NVIDIA L40S", 864, 362, "NVIDIA L40S data sheet: 864 GB/s, 362 TFLOPS dense"),
    "a100": Accelerator("NVIDIA A100 80GB SXM", 2039, 312, "NVIDIA A100 data sheet: 2,039 GB/s, 312 TFLOPS dense"),
    "h100": Accelerator(
        "NVIDIA H100 SXM", 3350, 989, "NVIDIA H100 data sheet: 3.35 TB/s, 1,979 TFLOPS with sparsity, half of it dense"
    ),
    "h200": Accelerator(
        "NVIDIA H200 SXM", 4800, 989, "NVIDIA H200 data sheet: 4.8 TB/s, 1,979 TFLOPS with sparsity, half of it dense"
    ),
    "mi300x": Accelerator("AMD MI300X", 5300, 1307, "AMD Instinct MI300X data sheet: 5.3 TB/s, 1,307 TFLOPS dense"),
}
"""By a short name, slowest memory first but for the generation."""


def roofline(
    accelerator: Accelerator, billions: float = 8.03, bytes_each: float = 2.0, overhead_ms: float = OVERHEAD_MS
) -> PassCost:
    """Estimated times of a dense model of ``billions`` 10^9 parameters of ``bytes_each`` bytes on one chip.

    A pass over n positions takes overhead + max(weights / bandwidth, 2 * parameters * n / peak); a draft pass takes ``DRAFT_SHARE``
    of a pass over one position. The cache, attention and the other chips of a larger model are left out. Raises ``ValueError``
    naming the field.

    >>> cost = roofline(ACCELERATORS["h100"], billions=8, overhead_ms=1)
    >>> [round(float(cost.verify(n)), 2) for n in (1, 295, 590)]
    [5.78, 5.78, 10.55]
    """
    for name, value, low, high in (
        ("billions", billions, 1e-3, 2e3),
        ("bytes_each", bytes_each, 0.25, 8),
        ("overhead_ms", overhead_ms, 0, 1e3),
    ):
        if not low <= value <= high:
            raise ValueError(f"{name}: {value!r} given, allowed is {low:g} to {high:g}")
    reading = billions * bytes_each / accelerator.bandwidth * 1e3
    each = 2 * billions / accelerator.peak
    knee = max(2, math.floor(reading / each))
    last = FARTHEST * knee
    times = tuple(overhead_ms + max(reading, each * size) for size in (1, knee, last))
    title = f"{accelerator.name}, {billions:g} B parameters, estimated from its data sheet"
    return PassCost(title, (1, knee, last), times, DRAFT_SHARE * times[0])
