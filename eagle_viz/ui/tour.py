"""A walk through the mission in a few stops; each sets the real controls and says what to look at. Left any time, resumed later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from . import session
from .presets import PRESETS
from .settings import ALL_STEPS, Settings

_LEFT_AT = "tour_left_at"


@dataclass(frozen=True)
class Stop:
    """``changes`` are settings against the page's defaults."""

    title: str
    text: str
    changes: Mapping[str, object]


STOPS: tuple[Stop, ...] = (
    Stop(
        "What is a node worth?",
        "The first guess is right with probability 0.95, so this one node is worth 0.95 tokens. 24 more may be bought. Press "
        "the right arrow key, or › under the trees, a few times: each step says what was added and why. Nodes are named by their "
        "way from the root: 0 is the most confident guess, 0.1 the second most confident after it.",
        {"step": 1},
    ),
    Stop(
        "Values multiply along the path",
        "A token only counts if everything before it was right: 0.95 × 0.99 × 1.00 × 0.51 = 0.48. Add up all these products and "
        "you have the number of drafted tokens the large model can be expected to accept.",
        {"step": 4},
    ),
    Stop(
        "A sharp context: go deep",
        "With all 25 nodes bought, blue runs twelve levels down the sure path. Gray has one shape for every context, five "
        "levels deep: 17 of its nodes are worth less than anything blue keeps. 6.07 against 4.33 tokens.",
        {"step": ALL_STEPS},
    ),
    Stop(
        "A flat context: go wide",
        "Same seed, confidences levelled out. Both trees are now wide and five levels deep, and 4 % apart. Dynamic wins exactly "
        "as much as contexts differ from the average one. Drag sharpness back up and watch the gain return.",
        {"sharpness": 0.8},
    ),
    Stop(
        "How EAGLE-2 finds the tree",
        "Expand: each draft pass scores the children of the ten best nodes of the last layer. Rerank: keep the 25 largest "
        "products of everything scored. The kept set is always connected, because a child is never worth more than its parent.",
        {"mode": "phases", "step": 0},
    ),
    Stop(
        "Count tokens, not sweeps",
        "The blue chain survives to its end 40 % of the time, and is worth 2.57 tokens. The gray tree makes a clean sweep "
        "certain, and is worth 1.00. Whoever maximises the sweep builds wide, shallow, timid trees.",
        dict(PRESETS["sweep"].changes),
    ),
    Stop(
        "Real text, decided anew each cycle",
        "A real answer, drafted and verified. Underlined tokens were drafted and accepted, boxed ones are the target's own. The "
        "strip below shows depth and width of both trees: gray never changes, blue goes deep where the text is predictable. "
        "Click a cycle.",
        dict(PRESETS["code"].changes),
    ),
    Stop(
        "Confidence is close to acceptance",
        "All this rests on one thing: that the drafter's confidence tells how often the target will accept. Dots on the "
        "diagonal mean that it does. The ladder below shows what each idea adds at the same budget.",
        {"view": "confidence"},
    ),
    Stop(
        "What it buys, and what it costs",
        "More nodes never expect fewer tokens a pass, but the pass takes longer. Where it pays depends on the machine; choose one "
        "on the left. The paper reports 20 to 40 % over EAGLE-1 with the same head and the same verification.",
        {"view": "speed"},
    ),
)


def settings_at(stop: int) -> Settings:
    """The settings of stop 1, 2, ...; raises ``IndexError`` where there is none."""
    return Settings(tour=stop, **STOPS[stop - 1].changes)


def go(stop: int) -> None:
    """Move to a stop, 0 to leave (callback)."""
    if stop == 0:
        st.session_state[_LEFT_AT] = session.current().tour
        session.change(tour=0)
    else:
        session.restart(settings_at(stop))


def invitation(settings: Settings) -> None:
    """The button that starts the tour, or takes it up where it was left."""
    left_at = st.session_state.get(_LEFT_AT, 0)
    label = f"Resume the tour ({left_at} of {len(STOPS)})" if left_at else "Take the tour, two minutes"
    if settings.tour == 0:
        st.button(label, key="tour_start", type="tertiary", on_click=go, args=(left_at or 1,))


def panel(settings: Settings) -> None:
    """The stop one is at, with back, next and leave."""
    stop = min(settings.tour, len(STOPS))
    if stop == 0:
        return
    with st.container(key="tour"):
        here = STOPS[stop - 1]
        st.html(
            f'<div data-testid="tour-stop"><small>Stop {stop} of {len(STOPS)}</small><h2>{here.title}</h2><p>{here.text}</p></div>'
        )
        with st.container(key="tour-buttons", horizontal=True, vertical_alignment="center"):
            st.button("Back", key="tour_back", disabled=stop == 1, on_click=go, args=(stop - 1,))
            last = stop == len(STOPS)
            st.button(
                "Finish" if last else "Next stop",
                key="tour_next",
                type="primary",
                on_click=finish if last else go,
                args=() if last else (stop + 1,),
            )
            st.button("Leave", key="tour_leave", type="tertiary", disabled=last, on_click=go, args=(0,))


def finish() -> None:
    """End the tour; the next one starts at the beginning (callback)."""
    st.session_state[_LEFT_AT] = 0
    session.change(tour=0)
