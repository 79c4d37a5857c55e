"""Several requests in one pass, and several contexts in one text: what is won where they differ, and only there."""

from __future__ import annotations

import streamlit as st

from ..core.forest import Shared, batches, mean_tau, share
from ..core.mixed import curve
from ..core.recording import MAX_DEPTH
from ..view import speed_figures
from . import chrome, library
from .settings import Settings

EACH = (2, 4, 8, 16, 25)
"""Nodes a request on average; with more, best-first over all requests would ask for more than a recording holds of one."""
SPREADS = tuple(step / 4 for step in range(7))
MEAN = 2.0
WORDS = (
    "Nodes go to the largest path products of all requests together, instead of an equal part to each. A sure request gets a "
    "larger tree, an unsure one a smaller, and the pass is as large as before."
)
CURVE = (
    "41 contexts of mean sharpness 2 that differ in nothing but their sharpness. Where all are alike the best fixed shape is as "
    "good as a tree for each; what a dynamic tree wins is how much contexts differ from their average."
)


def card(settings: Settings, names: tuple[str, ...]) -> None:
    """One budget over several requests beside the gain that grows with the spread of contexts."""
    with st.container(key="card-several", border=True):
        requests = max(2, settings.batch)
        chrome.card_title("Where contexts differ", f"{requests} requests verified together; expected tokens a pass, bonus counted")
        left, right = st.columns(2, gap="medium")
        with left, chrome.in_one_sentence():
            st.html(f'<p class="quiet">{WORDS}</p>')
            st.html(_table(names, requests, settings.budget))
        with right:
            st.html(f'<p class="quiet">{CURVE}</p>')
            _curve(settings.budget)


@st.cache_resource(max_entries=32, show_spinner=False)
def _shared(names: tuple[str, ...], requests: int, each: int) -> list[Shared]:
    contexts = [cycle.landscape for name in names for cycle in library.read_recording(name).cycles]
    return [share(batch, each, MAX_DEPTH) for batch in batches(contexts, requests)]


def _table(names: tuple[str, ...], requests: int, budget: int) -> str:
    rows = []
    for each in EACH:
        found = _shared(names, requests, each)
        equal, shared = mean_tau(found)
        sizes = sorted(size for one in found for size in one.sizes)
        cells = (each, f"{equal:.2f}", f"{shared:.2f}", f"{shared / equal - 1:+.1%}", f"{sizes[0]} to {sizes[-1]}")
        rows.append(f"<tr{' class=all' * (each == budget)}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "<tr><th>Nodes each</th><th>Equal parts</th><th>One order</th><th>Gain</th><th>Nodes of a request</th></tr>"
    batches_made = len(_shared(names, requests, EACH[0]))
    caption = f"One order of products over {requests} requests, {batches_made} batches of recorded contexts"
    table = f"<table class='numbers' data-testid='forest'><caption>{caption}</caption>{head}{''.join(rows)}</table>"
    return f"<div class='wide'>{table}</div>"


def _curve(budget: int) -> None:
    rows = curve(MEAN, SPREADS, budget)
    chrome.chart(
        speed_figures.gain_against_spread(rows),
        key="spread",
        alt="Gain of dynamic trees over the best fixed shape against the spread of the contexts",
    )
