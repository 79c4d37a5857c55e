"""How much memory a target needs, estimated from its files before it is loaded. No torch."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

BYTES = {"float32": 4, "bfloat16": 2}
"""Bytes of a number in each type that a target may be loaded in."""
LIBRARIES = 150 * 10**6
"""Bytes that torch and transformers take besides (measured on the default target)."""
MOST_HEADER = 100 * 10**6


@dataclass(frozen=True)
class Need:
    """A target of so many `parameters`, of which its lm_head has `head`, loaded in `dtype`; `placed`: on accelerate's devices.

    >>> Need("small", 134_515_008, 28_311_552, "float32").bytes / 1e9      # measured: 1.29
    1.339366272
    """

    name: str
    parameters: int
    head: int
    dtype: str
    placed: bool = False

    @property
    def bytes(self) -> int:
        """At the peak: where it is not placed the float32 weights, and the copy that is computed with beside them."""
        once = BYTES[self.dtype]
        if self.placed:
            return self.parameters * once + self.head * once + LIBRARIES
        return self.parameters * (BYTES["float32"] + once) + self.head * once + LIBRARIES

    def sentence(self, free: int) -> str:
        """What is needed and what is there."""
        millions = f"{self.parameters / 1e6:,.0f} million parameters"
        return f"{self.name}: {millions}, about {self.bytes / 1e9:.1f} GB to load in {self.dtype}; {free / 1e9:.1f} GB are free"

    def check(self, free: int) -> None:
        """Raise ValueError where it does not fit, saying what may help."""
        if self.bytes > free:
            half = " --dtype bfloat16 needs less;" if self.dtype == "float32" else ""
            raise ValueError(f"target: {self.sentence(free)};{half} a server may hold it (record --drafter-url)")


def need_of(folder: str | Path, dtype: str, placed: bool = False) -> Need | None:
    """What the target in a local folder needs, by the headers of its safetensors files; None where there are none to read."""
    folder = Path(folder).expanduser()
    shapes: dict[str, list[int]] = {}
    for path in sorted(folder.glob("*.safetensors")) if folder.is_dir() else ():
        shapes |= _shapes(path)
    if not shapes:
        return None
    embeddings = [shape for name, shape in shapes.items() if name.endswith(("lm_head.weight", "embed_tokens.weight", "wte.weight"))]
    head = max((math.prod(shape) for shape in embeddings), default=0)
    return Need(folder.name, sum(map(math.prod, shapes.values())), head, dtype, placed)


def _shapes(path: Path) -> Mapping[str, list[int]]:
    """Tensor name -> shape, from the JSON that a safetensors file begins with; nothing for a file that has none."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        try:
            header = json.loads(file.read(size)) if size <= MOST_HEADER else {}
        except ValueError:
            return {}
    if not isinstance(header, dict):
        return {}
    return {name: entry["shape"] for name, entry in header.items() if isinstance(entry, dict) and "shape" in entry}


def free_memory() -> Mapping[str, int]:
    """Free bytes by place, as accelerate finds them: "cpu" is this machine's memory, the others are devices."""
    from accelerate.utils import get_max_memory

    return {str(place): int(free) for place, free in get_max_memory().items()}


def devices(free: Mapping[str, int]) -> list[str]:
    """The places that are not this machine's own memory."""
    return [place for place in free if place not in ("cpu", "disk")]
