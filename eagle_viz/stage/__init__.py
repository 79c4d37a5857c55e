"""The stage: two draft trees in the browser, stepped, scrubbed and dragged without a round trip.

``trace`` decides everything (no streamlit there), ``js/`` reveals it, ``component`` mounts it in a page, ``player`` in one file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .component import Command, StageReport, painted_revision, stage, stage_report

__all__ = ["Command", "StageReport", "painted_revision", "stage", "stage_report"]


def __getattr__(name: str) -> object:
    """Load streamlit only when the component itself is asked for, so that traces and players need none."""
    if name in __all__:
        from . import component

        return getattr(component, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
