"""Whose pass times: measured here, estimated from a data sheet, or typed and pasted; all of them one text in the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ..core.cost import SUPPOSED, TIMES, PassCost, parse_times
from ..core.roofline import ACCELERATORS, roofline
from ..imports.sglang_times import read_times
from . import chrome, session
from .settings import PROPERTIES, Settings

OWN = (
    "positions:milliseconds of a verify pass, 1 first; draft: one draft pass; plain: a token of plain decoding, if that is not "
    "a pass over one position. `python -m eagle_viz bench passes` measures and prints this line. Rows of SGLang's "
    "bench_speculative.py can be pasted here too."
)
UNITS = {"ms": 1.0, "µs": 1e-3, "s": 1e3}
_TABLE = "times_table"


def titles() -> dict[str, str]:
    """Every source of times by its name in a link, measured ones first."""
    given = {name: cost.title if cost is SUPPOSED else f"{cost.title}, measured" for name, cost in TIMES.items()}
    return given | {name: f"{chip.name}, estimated" for name, chip in ACCELERATORS.items()}


def source_of(settings: Settings) -> PassCost:
    """The times that the chosen source gives, whatever was typed."""
    if settings.cost in ACCELERATORS:
        return roofline(ACCELERATORS[settings.cost], settings.billions)
    return TIMES[settings.cost]


def cost_of(settings: Settings) -> PassCost:
    """The times in use; raises ``ValueError`` with one sentence where the typed ones are none."""
    return parse_times("your own times", settings.times) if settings.times else source_of(settings)


def choose() -> None:
    """The source, its text, and the same as a table. The text shows what is used, and editing it makes it one's own."""
    now, names = session.current(), titles()
    st.selectbox("Time of a pass", list(names), format_func=names.get, **session.bind("cost", lambda chosen: {"times": ""}))
    if now.cost in ACCELERATORS and not now.times:
        _estimate(now)
    refused = session.page().refused.get("times")
    shown = refused.text if refused else now.times or source_of(now).text
    bound = session.widget("times", shown, lambda text: " ".join(text.split()), _edited)
    st.text_area("Pass times in ms (paste your own)", height=125, max_chars=40_000, help=OWN, **bound)
    chrome.refusal("times")
    chrome.drawer("The same times as a table", "times_as_table", lambda: _table(session.current()))


def _estimate(settings: Settings) -> None:
    row = PROPERTIES["billions"]
    label = "Parameters of the target, in billions"
    st.number_input(label, float(row.low), float(row.high), step=1.0, format="%g", **session.bind("billions"))
    chip = ACCELERATORS[settings.cost]
    st.html(
        f'<p class="quiet" data-testid="times-source">Estimated, not measured: {chip.source}; 1 ms a pass beside it supposed.</p>'
    )


def _edited(text: str) -> None:
    """Take what was typed or pasted (callback); what is no times, or too long for a link, is refused in a sentence."""
    typed = text
    try:
        text = read_times(text.replace("} {", "}\n{")).text if text.startswith(("{", "[")) else text
        if len(text) > PROPERTIES["times"].length:
            raise ValueError(f"times: {len(text)} characters given, allowed are at most {PROPERTIES['times'].length}")
        if text:
            parse_times("your own times", text)
    except ValueError as error:
        return session.refuse("times", typed, str(error))
    _take(text)


def _take(text: str) -> None:
    session.act({"times": "" if text == source_of(session.current()).text else text})


# -- the table ---------------------------------------------------------------------------------------------------------


def _table(settings: Settings) -> None:
    """Positions and times in a unit of one's choice; rows can be added and deleted."""
    unit = st.segmented_control("Unit", list(UNITS), default="ms", required=True, **session.own("times_unit"))
    with chrome.in_one_sentence():
        cost = cost_of(settings)
        rows = rows_of(cost, UNITS[unit])
        key = f"{_TABLE}_{unit}_{cost.text}"  # other times are another table: an edit is told against the rows it was made in
        column = st.column_config
        st.data_editor(
            rows,
            key=key,
            num_rows="dynamic",
            hide_index=True,
            column_config={
                "what": column.TextColumn("positions", help="Positions of a verify pass, or draft, or plain", required=True),
                "time": column.NumberColumn(unit, min_value=0.0, format="%g", required=True),
            },
            on_change=_table_edited,
            args=(key, rows, UNITS[unit]),
        )
        st.html('<p class="quiet">An example for a GPU: 1 10, 64 11, 256 30, draft 0.6.</p>')


def rows_of(cost: PassCost, unit: float) -> list[dict[str, object]]:
    """The written times as rows of a table, ``unit`` milliseconds in one of its numbers.

    >>> rows_of(PassCost("mine", (1, 4), (10.0, 12.0), 0.5), 1.0)[-1]
    {'what': 'draft', 'time': 0.5}
    """
    pairs = (word.split(":") for word in cost.text.split())
    return [{"what": what, "time": float(f"{float(ms) / unit:.6g}")} for what, ms in pairs]


def text_of(rows: Sequence[Mapping[str, object]], unit: float) -> str:
    """Rows of a table as people write times, sizes rising; a row that is not filled in yet is left out.

    >>> text_of([{"what": "64", "time": 11}, {"what": "1", "time": 10}, {"what": "draft"}], 1.0)
    '1:10 64:11'
    """
    filled = [(str(row["what"]).strip(), row["time"]) for row in rows if row.get("what") and row.get("time") is not None]
    order = sorted(filled, key=lambda row: (0, int(row[0])) if row[0].isdecimal() else (1, 0))
    return " ".join(f"{what}:{float(time) * unit:g}" for what, time in order)


def edited_rows(rows: Sequence[Mapping[str, object]], edits: Mapping) -> list[dict[str, object]]:
    """The rows of a table after what Streamlit says was edited, deleted and added."""
    changed = [dict(row) | edits["edited_rows"].get(place, {}) for place, row in enumerate(rows)]
    kept = [row for place, row in enumerate(changed) if place not in edits["deleted_rows"]]
    return kept + [dict(row) for row in edits["added_rows"]]


def _table_edited(key: str, rows: list[dict[str, object]], unit: float) -> None:
    text = text_of(edited_rows(rows, st.session_state[key]), unit)
    if text == text_of(rows, unit):
        return session.acted()
    _edited(text)
