"""Which budget, depth and top_k: the map of speeds, the setting to choose with its flags, and what tau costs in time."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import streamlit as st

from ..core.cost import PassCost, check_rising
from ..core.recommendation import Advice, recommend
from ..core.simulation import Tally
from ..core.speed_map import Offer, SpeedMap, pareto, speed_map
from ..view import speed_figures
from . import chrome, library, session, simulated
from .settings import Settings

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
FRONT = 8
"""Rows of the Pareto front on the page, evenly chosen, its cheapest, its dearest and its fastest among them."""
LEGEND = (
    "Blank: no faster than plain decoding, or more nodes than these levels offer. Shaded: at most 2 % slower than the best, which "
    "measuring cannot tell apart."
)
NOTHING_PAYS = "speculation is slower than plain decoding, or as fast, at every budget and depth. Switch it off."


def card(settings: Settings, names: tuple[str, ...], cost: PassCost) -> None:
    """The map over all contexts of these recordings at the chosen times and batch."""
    with st.container(key="card-map", border=True):
        drafter = library.drafted_by(library.read_recording(settings.recording))
        chrome.card_title("Which budget, depth and top_k?", f"EAGLE-2; {cost.title}; texts drafted by {drafter}")
        with chrome.in_one_sentence():
            if library.is_oracle(settings.recording):
                raise ValueError(
                    "The target drafted these texts itself, so what greedy decoding accepts says nothing: choose a head's text."
                )
            check_rising(cost)
            _inside(settings, names, cost)


def _inside(settings: Settings, names: tuple[str, ...], cost: PassCost) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        options = sorted({*BATCHES, settings.batch})
        st.select_slider("Batch: requests verified together", options, **session.bind("batch"))
        early = st.toggle("Draft stopped early", help="No engine does this yet", **session.own("map_early_stop"))
    every, rows = simulated.every_setting(names)
    found = speed_map(every, cost, settings.batch, early)
    if found.pays.any():
        _map(found, every, settings.batch)
    else:
        st.html(f"<p class='verdict' data-testid='map-best'>At batch {settings.batch} {NOTHING_PAYS}</p>")
    chrome.html(_batches(every, cost, early))
    advise(recommend(rows, cost, settings.batch))
    st.html(front_table(pareto(rows, cost, settings.batch)))


def _map(found: SpeedMap, every: Tally, batch: int) -> None:
    row, column = found.best
    st.html(
        f"<p class='verdict' data-testid='map-best'>At batch {batch}: <b class='dynamic'>budget {column + 1}, max_depth {row + 1}, "
        f"top_k {found.top_k[row, column]}</b>: {found.speed[row, column]:.2f} times plain decoding at tau "
        f"{found.tau[row, column]:.2f}, over {every.count} contexts.</p>"
    )
    _chart(speed_figures.speed_map(found), "speed-map", "Speed over budget and max_depth, each at its best top_k")
    st.html(f"<p class='quiet'>{LEGEND}</p>")
    sides = st.columns(2, gap="medium")
    known = ~np.isnan(found.speed[row])
    for side, values, name, suffix in zip(
        sides,
        (found.tau[row], found.speed[row]),
        (f"tau, {row + 1} levels", f"speed, {row + 1} levels"),
        ("", "×"),
        strict=True,
    ):
        with side:
            _chart(
                speed_figures.along_budget(values[known], column + 1, name, suffix), f"map-{name[:3]}", f"{name} over the budget"
            )
    st.html("<p class='quiet'>tau rises with nearly every node; speed falls once a node costs more time than it brings tokens.</p>")


def _chart(figure: object, key: str, alt: str) -> None:
    chrome.chart(figure, key=key, alt=alt)


def _batches(every: Tally, cost: PassCost, early: bool) -> str:
    """How the best budget shrinks as more requests share a pass."""
    cells: list[list[str]] = [[], [], []]
    for batch in BATCHES:
        found = speed_map(every, cost, batch, early)
        row, column = found.best
        pays = bool(found.pays.any())
        cells[0].append(str(batch))
        cells[1].append(str(column + 1) if pays else "off")
        cells[2].append(f"{found.speed[row, column]:.2f}×" if pays else "–")
    lines = zip(("Batch", "Best budget", "Speed"), cells, strict=True)
    rows = "".join(f"<tr><th>{name}</th>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for name, line in lines)
    far = BATCHES[-1] * 2 > cost.sizes[-1]
    note = f" Times beyond {cost.sizes[-1]} positions are extrapolated." * far
    return (
        "<div class='wide'><table class='numbers' data-testid='map-batches'><caption>The more requests share a pass, the smaller "
        f"the best tree.{note}</caption>{rows}</table></div>"
    )


def advise(advice: Advice) -> None:
    """The fastest setting, and each engine's flags for the fastest that it can express."""
    st.html(f"<p class='verdict' data-testid='map-advice'>Fastest of all simulated policies. {escape(advice.sentence)}</p>")
    for engine, fit in advice.fits.items():
        if fit.outcome is None:
            st.html(f"<p class='quiet'><b>{engine}</b>: speculation off; no setting that it can express is faster.</p>")
            continue
        setting = fit.outcome.setting
        exact = "this setting" if fit.outcome is advice.best else f"the fastest it can express: {setting.policy}, {setting.told}"
        st.html(f"<p class='quiet'><b>{engine}</b>: {escape(exact)}, {fit.speedup:.2f}×; {escape(fit.counting)}</p>")
        st.code(fit.flags, language=None, wrap_lines=True)


def front_table(front: Sequence[Offer]) -> str:
    """Tau against milliseconds, for whom speed is not all: settings that no other one beats."""
    fastest = max(range(len(front)), key=lambda place: front[place].speed)
    places = sorted({fastest, *(round(i * (len(front) - 1) / (FRONT - 1)) for i in range(FRONT))})
    rows = "".join(_offer(front[place], place == fastest) for place in places)
    caption = f"No other setting has more tokens a pass in as little time: {len(places)} of {len(front)}, cheapest first"
    head = "<tr><th>ms a pass</th><th>tau</th><th>Speed</th><th>Setting</th></tr>"
    return (
        f"<div class='wide'><table class='numbers' data-testid='map-front'><caption>{caption}</caption>{head}{rows}</table></div>"
    )


def _offer(one: Offer, fastest: bool) -> str:
    setting = one.outcome.setting
    css = " class='all'" if fastest else ""
    cells = (f"{one.milliseconds:.1f}", f"{one.outcome.tau:.2f}", f"{one.speed:.2f}×", f"{setting.policy}, {setting.told}")
    return f"<tr{css}>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
