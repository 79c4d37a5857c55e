"""A simulation made elsewhere (`simulate --json`), opened on the page: priced at the chosen pass times and batch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape

import streamlit as st

from ..core.cost import PassCost, check_rising
from ..core.recommendation import outcomes_from, recommend
from ..core.simulation import Outcome
from ..core.speed_map import pareto
from . import chrome, speed_map
from .files import files
from .settings import Settings


@dataclass(frozen=True, eq=False)
class Simulation:
    """Every setting's outcome as the file has it, over so many ``contexts`` (None: not told)."""

    file: str
    rows: tuple[Outcome, ...]
    contexts: int | None


def read_simulation(name: str, content: bytes) -> Simulation:
    """What ``simulate --json`` printed; raises ``ValueError`` in one sentence for anything else."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError(f"file: {name[:80]!r} is not JSON, allowed is what simulate --json printed") from None
    contexts = document.get("contexts") if isinstance(document, dict) else None
    whole = isinstance(contexts, int) and not isinstance(contexts, bool) and contexts > 0
    return Simulation(name, tuple(outcomes_from(document)), contexts if whole else None)


def card(settings: Settings, cost: PassCost) -> None:
    """The setting to choose and the Pareto front of the opened simulation, if there is one."""
    found = files().simulation
    if found is None:
        return
    with st.container(key="card-simulation", border=True):
        contexts = "" if found.contexts is None else f" over {found.contexts:,} contexts"
        chrome.card_title("Your simulation", f"{found.file}; {cost.title}; batch {settings.batch}")
        with chrome.in_one_sentence():
            check_rising(cost)
            most = max(found.rows, key=lambda one: one.tau)
            st.html(
                f'<p class="claim" data-testid="simulation-tau">{len(found.rows):,} settings{contexts}; the largest tau is '
                f"{most.tau:.2f}, with {escape(most.setting.policy)}, {escape(most.setting.told)}.</p>"
            )
            speed_map.advise(recommend(found.rows, cost, settings.batch))
            st.html(speed_map.front_table(pareto(found.rows, cost, settings.batch)))
