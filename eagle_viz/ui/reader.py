"""The answer of a recording with its passes marked, as a small component: click a pass, and the stage shows its trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

import streamlit as st

from ..core.recording import Recording
from ..core.replay import Pass
from ..core.tree import Path

HARVEST = 6
"""Tokens of one pass (bonus counted) from which on a stretch is marked."""


def reader(data: dict, choose: Callable[[int], None], show: Callable[[int], None], key: str = "reader") -> None:
    """Draw the answer. Before the page reruns, ``choose`` is called with the number of a pass that the arrow keys reached, ``show``
    with that of one that was clicked or entered.
    """

    def heard(name: str, take: Callable[[int], None]) -> None:
        cycle = st.session_state[key].get(name)
        if cycle is not None:
            take(int(cycle))

    _component()(
        data=data, key=key, on_chosen_change=lambda: heard("chosen", choose), on_opened_change=lambda: heard("opened", show)
    )


@cache
def _component() -> Callable:
    here = files(__package__)
    read = {kind: (here / f"reader.{kind}").read_text(encoding="utf-8") for kind in ("js", "css")}
    return st.components.v2.component("eagle_viz.reader", html='<div class="reader"></div>', **read)


def reader_data(
    recording: Recording, static: Sequence[Pass], dynamic: Sequence[Pass], selected: int, names: tuple[str, str]
) -> dict:
    """What the component draws: the text before the first pass, then each pass's tokens and both trees' numbers there."""
    ends = [recording.answer_index(cycle) for cycle in range(1, len(recording.cycles))] + [recording.answer_length - 1]
    cycles = []
    for number, (end, still, moving) in enumerate(zip(ends, static, dynamic, strict=True)):
        tokens = cycle_tokens(recording, number, end)
        produced = sum(token["kind"] != "plain" for token in tokens)
        cycles.append(
            {
                "tokens": tokens,
                "produced": produced,
                "harvest": produced >= HARVEST,
                "label": f"Position {number}: {produced} tokens. {_shape(names[0], still)}; {_shape(names[1], moving)}.",
                "static": vars(still),
                "dynamic": vars(moving),
            }
        )
    return {
        "before": recording.words_before(0) + recording.root_text(0),
        "cycles": cycles,
        "selected": selected,
        "names": list(names),
    }


def cycle_tokens(recording: Recording, number: int, end: int) -> list[dict]:
    """The answer's tokens after a pass's root up to index ``end``: accepted drafts of its leader, then the bonus."""
    cycle, first = recording.cycles[number], recording.answer_index(number) + 1
    path = cycle.verdicts[0].path if cycle.verdicts else ()
    tokens = []
    for index in range(first, end + 1):
        depth = index - first + 1
        kind = "accepted" if depth <= len(path) else "bonus" if depth == len(path) + 1 and cycle.verdicts else "plain"
        hint = _price(recording, number, path[:depth]) if kind == "accepted" else _HINTS[kind]
        tokens.append({"text": recording.pieces[index], "kind": kind, "hint": hint})
    return tokens


_HINTS = {"bonus": "bonus: the target's own token after the last accepted one", "plain": "not part of a recorded pass"}


def _price(recording: Recording, number: int, path: Path) -> str:
    land = recording.cycles[number].landscape
    value, confidence = 1.0, 1.0
    for depth, rank in enumerate(path):
        confidence = float(land.expand([path[:depth]])[0].confidences[rank])
        value *= confidence
    return f"accepted draft: confidence {confidence:.2f}, path product {value:.2f}, rank {path[-1]} among its siblings"


def _shape(side: str, one: Pass) -> str:
    return f"{side}: {one.depth} levels, {one.width} nodes wide, {one.accepted} accepted"
