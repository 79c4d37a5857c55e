"""What was measured live on many contexts, from the shipped table: a few recorded texts decide nothing."""

from __future__ import annotations

from html import escape

import streamlit as st

from ..core.calibration import Standing
from ..core.measured import FILE, Measured, read_measured
from . import chrome

PAIRS = (("eagle2:25", "eagle1:25", "at 25 nodes each"), ("eagle2:59", "eagle1:25", "as the paper pairs them, 59 nodes against 25"))
"""The comparisons that a sentence speaks of."""


@st.cache_resource(show_spinner=False)
def table() -> Measured | None:
    """The shipped table, or None where none is shipped."""
    return read_measured(FILE) if FILE.exists() else None


def card() -> None:
    """Every policy of the table: tau with its interval, promise and outcome, whole and by kind of text."""
    found = table()
    if found is None:
        return
    with st.container(key="card-many", border=True):
        aside = f"{found.source}, {found.prompts} prompts, answers of at most {found.max_new_tokens} tokens, greedy, {found.dtype}"
        chrome.card_title(f"On {found.contexts:,} passes", aside)
        chrome.html("".join(_lead(found, *pair) for pair in PAIRS if _has(found, pair)))
        st.html(_policies(found) + _kinds(found))


def _has(found: Measured, pair: tuple[str, str, str]) -> bool:
    return {pair[0], pair[1]} <= {one.name for one in found.standings}


def _lead(found: Measured, name: str, other: str, how: str) -> str:
    """How far one policy is ahead of another on the same contexts, with its interval."""
    ahead, behind = found.standing(name), found.standing(other)
    lead = ahead.over[other]
    share, low, high = (part / behind.whole.tau for part in (lead.mean, lead.low, lead.high))
    return (
        f"<p class='verdict' data-testid='lead'>{escape(ahead.title)} writes {share:+.0%} tokens a pass against "
        f"{escape(behind.title)} {how} (95 % interval {low:+.0%} to {high:+.0%}).</p>"
    )


def _policies(found: Measured) -> str:
    rows = "".join(map(_policy_row, found.standings))
    greedy = " Expected is read for greedy decoding." if found.reading == "greedy" else ""
    caption = f"tau: tokens written per verify pass, with a 95 % interval over answers; accepted: drafted tokens a pass.{greedy}"
    head = "<tr><th>Policy</th><th>Nodes</th><th>tau</th><th>Accepted</th><th>Expected</th><th>Expected for sampling</th></tr>"
    return f"<div class='wide'><table class='numbers' data-testid='many'><caption>{caption}</caption>{head}{rows}</table></div>"


def _policy_row(one: Standing) -> str:
    whole = one.whole
    tau = f"{whole.tau:.2f} <i>({whole.low:.2f} to {whole.high:.2f})</i>"
    cells = (escape(one.title), one.budget, tau, *(f"{value:.2f}" for value in (whole.accepted, whole.expected, whole.sampled)))
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _kinds(found: Measured) -> str:
    head = "".join(f"<th>{escape(one.name)}</th>" for one in found.standings)
    rows = "".join(
        f"<tr><td>{escape(kind)}</td>" + "".join(f"<td>{one.by_kind[kind].tau:.2f}</td>" for one in found.standings) + "</tr>"
        for kind in found.standings[0].by_kind
    )
    caption = "tau by kind of text (policy:nodes)"
    table = (
        f"<table class='numbers' data-testid='many-kinds'><caption>{caption}</caption><tr><th>Kind</th>{head}</tr>{rows}</table>"
    )
    return f"<div class='wide'>{table}</div>"


def calibration() -> list[str]:
    """One sentence on the calibration over all these passes; none where no table is shipped."""
    found = table()
    if found is None:
        return []
    greedy = "" if found.greedy is None else f", read for greedy decoding {found.greedy.ece_accepted:.3f} from what was accepted"
    return [
        f"On {found.contexts:,} passes of {found.source} ({found.reliability.count:,} drafted tokens) the calibration error is "
        f"{found.reliability.ece:.3f}{greedy}."
    ]
