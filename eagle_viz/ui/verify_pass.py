"""Inside the verify pass: the tree flattened into rows, who attends to whom, and which rows survive."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files

import streamlit as st

from ..core.readout import amount, path_confidences, product_text
from ..core.recording import RecordedCycle, Recording
from ..core.tree import NO_TOKEN, DraftTree, path_name
from ..stage.nodes import visible
from . import chrome, controls, library, session, world
from .settings import Settings

WORDS = (
    "The tree is flattened level by level and sent through the large model once. Every row attends to the whole text before it, "
    "to its own ancestors and to itself, and takes the position of its level: each row sees exactly what it would see if its path "
    "were the text. Afterwards the rows on the accepted path stay in the cache, and all others are dropped."
)
INVITATION = (
    "A square: the row attends to that column. Blue rows stay, gray ones are dropped; the bar on the left is the text before, "
    "which every row attends to. Point at a row to see its own."
)


def panel(settings: Settings) -> None:
    """The rows of the chosen pass, for either policy."""
    controls.recorded_view(settings, _pass)


def _pass() -> None:
    settings = session.current()
    st.html(f'<p class="intro">{WORDS}</p>')
    sides = dict(zip(("dynamic", "static"), world.sides(settings)[::-1], strict=True))
    titles = {name: f"{side.title}, {settings.budget} nodes" for name, side in sides.items()}
    chosen = st.segmented_control(
        "Tree",
        list(sides),
        format_func=titles.get,
        default="dynamic",
        required=True,
        label_visibility="collapsed",
        **session.own("pass_side"),
    )
    recording = library.read_recording(settings.recording)
    tree = world.draft(world.LandscapeKey.of(settings), sides[chosen], settings.budget).tree
    with st.container(key="card-pass", border=True):
        data = pass_rows(recording, settings.position, tree)
        chrome.card_title(f"Position {settings.position} of {recording.title}", data["summary"])
        _component()(data=data, key="rows")
    with st.expander("Retrieve table: each row of it is a path from the root to a leaf, as row numbers"):
        st.dataframe(_retrieve(tree), hide_index=True, height=240)


def _retrieve(tree: DraftTree) -> dict[str, list]:
    table = tree.retrieve_indices()
    return {f"level {level}": [None if row < 0 else row for row in table[:, level].tolist()] for level in range(table.shape[1])}


@cache
def _component() -> Callable:
    here = files(__package__)
    read = {kind: (here / f"rows.{kind}").read_text(encoding="utf-8") for kind in ("js", "css")}
    return st.components.v2.component("eagle_viz.rows", html='<div class="rows"></div>', **read)


def pass_rows(recording: Recording, number: int, tree: DraftTree) -> dict:
    """What the component draws: a row for each node of the tree (the root first), and the facts of the pass in a line."""
    cycle = recording.cycles[number]
    verdict = cycle.verdict(tree)
    kept = {0, *verdict.accepted}
    mask, words = tree.mask(), _words(recording, number, tree)
    rows = []
    for node in range(len(tree)):
        rows.append(
            {
                "text": words[node],
                "parent": "" if node == 0 else int(tree.parents[node]),
                "position": cycle.position + int(tree.position_ids()[node]),
                "value": "1" if node == 0 else amount(float(tree.values[node])),
                "fate": "kept" if node in kept else "dropped",
                "said": _fate(tree, node, kept),
                "attends": [int(column) for column in mask[node].nonzero()[0]],
                "way": _way(tree, node, words, cycle),
            }
        )
    bonus = visible(recording.texts.get(verdict.bonus, f"token {verdict.bonus}"))
    ending = "the text ends" if verdict.bonus == NO_TOKEN else f"the target adds {bonus}"
    summary = (
        f"{len(tree)} rows in one pass, {int(mask.sum())} ones in the mask, {len(tree.leaves)} paths; "
        f"{len(verdict.accepted)} drafted token{'s' * (len(verdict.accepted) != 1)} accepted, then {ending}"
    )
    return {"rows": rows, "summary": summary, "invitation": INVITATION}


def _words(recording: Recording, number: int, tree: DraftTree) -> list[str]:
    words = [visible(recording.root_text(number))]
    for path, token in zip(tree.paths[1:], tree.tokens[1:].tolist(), strict=True):
        words.append(visible(recording.texts.get(token, path_name(path))))
    return words


def _fate(tree: DraftTree, node: int, kept: set[int]) -> str:
    if node in kept:
        return "stays (root)" if node == 0 else "stays: accepted"
    return "dropped: not accepted" if int(tree.parents[node]) in kept else "dropped: never reached"


def _way(tree: DraftTree, node: int, words: list[str], cycle: RecordedCycle) -> str:
    if node == 0:
        return f"The root is the last committed token, at position {cycle.position}. It attends to all tokens before it."
    way = " → ".join(words[i] for i in tree.ancestry(node))
    price = product_text(path_confidences(tree, tree.paths[node]))
    position = cycle.position + int(tree.depths[node])
    return f"Row {node} attends to {way} and to the {cycle.position} tokens before; position {position}; worth {price}."
