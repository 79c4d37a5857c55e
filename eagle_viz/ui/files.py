"""What this session has made or opened, and no link carries: recordings, a file's trees, an engine's numbers, a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import streamlit as st

from ..core.recording import Recording
from ..core.uploaded import Uploaded

if TYPE_CHECKING:
    from .opened import Numbers
    from .opened_simulation import Simulation

_FILES = "files"


@dataclass(frozen=True)
class Files:
    """``recordings`` by name; ``trees`` of the last file that held some; ``numbers`` of the last two engines' files; the last
    ``simulation``; ``error``: why the last file could not be taken, empty where it was.
    """

    recordings: Mapping[str, Recording] = field(default_factory=dict)
    trees: Uploaded | None = None
    numbers: tuple[Numbers, ...] = ()
    simulation: Simulation | None = None
    error: str = ""


def files() -> Files:
    """What there is in this session."""
    return st.session_state.get(_FILES, Files())


def keep(**changes: object) -> None:
    """Replace some of it."""
    st.session_state[_FILES] = replace(files(), **changes)
