"""Tokens a second that the simulation predicted against those measured, from the shipped table."""

from __future__ import annotations

from html import escape

import streamlit as st

from ..core.predicted import FILE, PredictionRun, read_predicted
from ..core.prediction import Predicted
from . import chrome


@st.cache_resource(show_spinner=False)
def table() -> PredictionRun | None:
    """The shipped table, or None where none is shipped; raises ``ValueError`` for a file that is none."""
    return read_predicted(FILE) if FILE.exists() else None


def card() -> None:
    """Every setting of the table with its error, and how good the recommended one was; nothing where no table is shipped."""
    if not FILE.exists():
        return
    with st.container(key="card-predicted", border=True), chrome.in_one_sentence():
        found = table()
        aside = (
            f"{found.source}, {found.prompts} prompts, answers of at most {found.max_new_tokens} tokens, {found.rounds} rounds, "
            f"{found.cores} CPU cores"
        )
        chrome.card_title("Predicted against measured", aside)
        st.html(summary(found) + rows(found))


def summary(found: PredictionRun) -> str:
    """The errors in a sentence, and what following the prediction would have got."""
    report = found.report
    best = report.recommended
    return (
        f"<p class='verdict' data-testid='predicted-error'>Median error {report.median_error:.0%}, worst {report.worst_error:.0%}. "
        f"The setting that the prediction recommends, {escape(best.setting)} in {escape(best.dtype)}, reaches "
        f"{report.share_of_best:.0%} of the fastest one measured. Predicted is what the simulation says of each setting times "
        "parts that were timed by themselves; nothing is fitted to the outcome.</p>"
    )


def rows(found: PredictionRun) -> str:
    """A row a setting, a column a precision: predicted / measured tokens a second, and the error."""
    cells = {(row.setting, row.dtype): _cell(row) for row in found.report.rows}
    settings, dtypes = (dict.fromkeys(part) for part in zip(*cells, strict=True))
    head = "".join(f"<th>{escape(dtype)}</th>" for dtype in dtypes)
    body = "".join(
        f"<tr><td>{escape(setting)}</td>" + "".join(f"<td>{cells.get((setting, dtype), '–')}</td>" for dtype in dtypes) + "</tr>"
        for setting in settings
    )
    caption = (
        "Tokens a second, predicted / measured (error); k top_k, d max_depth, the last number the budget, early: drafting stops "
        "where nothing deeper can enter the tree"
    )
    table = (
        f"<table class='numbers' data-testid='predicted'><caption>{caption}</caption><tr><th>Setting</th>{head}</tr>{body}</table>"
    )
    return f"<div class='wide'>{table}</div>"


def _cell(row: Predicted) -> str:
    return f"{row.predicted:.1f} / {row.measured:.1f} <i>({row.error:+.0%})</i>"
