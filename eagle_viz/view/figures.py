"""Plotly charts around the stage. They look: every number they show is computed in core and handed in.

Colours are those of the light theme; the page's style sheet maps them, and all text, to the theme that is on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from math import isnan

import numpy as np
import plotly.graph_objects as go

from ..core.ladder import Rung
from ..core.population import Population
from ..core.reliability import Bin, Group, Reliability
from ..core.sureness import Sureness
from .palette import FONT, LIGHT, SIZES

GRAY, BLUE, INK, RULE = LIGHT.gray, LIGHT.blue, LIGHT.ink, LIGHT.line
TICKS = [0, 16, 32, 64, 96, 128, 192, 256, 384, 512]


def _line(figure: go.Figure, values: np.ndarray, colour: str, name: str, **hover: str) -> None:
    """The line of one tree, entry i at budget i; with a dot at each known budget where some are unknown (NaN)."""
    known = np.flatnonzero(~np.isnan(values))
    look = {"mode": "lines"} if len(known) == len(values) else {"mode": "lines+markers", "marker": {"size": 5}}
    line = {"color": colour, "width": 2.5}
    figure.add_scatter(x=known, y=values[known], name=name, line=line, **look, **hover)


def gain_against_sharpness(rows: Sequence[Population], current: Population) -> go.Figure:
    """Mean gain of EAGLE-2 over EAGLE-1's shape and over the best static shape, in percent, by sharpness; the current marked."""
    figure = go.Figure()
    x = [row.sharpness for row in rows]
    lines = (
        ("over EAGLE-1's shape", BLUE, "solid", "gain_over_eagle1", "top left"),
        ("over the best static shape", INK, "dash", "gain_over_static", "bottom right"),
    )
    for name, colour, dash, field, place in lines:
        y = [100 * getattr(row, field) for row in rows]
        figure.add_scatter(
            x=x, y=y, mode="lines", name=name, line={"color": colour, "width": 2.5, "dash": dash}, hovertemplate="%{y:+.0f} %"
        )
        here = [100 * getattr(current, field)]
        figure.add_scatter(
            x=[current.sharpness],
            y=here,
            mode="markers+text",
            text=[f"{here[0]:+.0f} %"],
            textposition=place,
            marker={"color": colour, "size": 10},
            showlegend=False,
            hoverinfo="skip",
        )
    figure.add_vline(x=current.sharpness, line={"color": INK, "width": 1, "dash": "dot"})
    figure.update_layout(hovermode="x")
    figure.update_xaxes(range=[0, max(x) * 1.02], tickvals=[0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4])
    figure.update_yaxes(rangemode="tozero", ticksuffix=" %")
    return calm(figure)


def reliability(found: Reliability) -> go.Figure:
    """Each bin's mean confidence against the share accepted (dots, 95 % bars) and the target's mean probability (line).

    The diagonal is a broad pale band, so that a line on top of it hides nothing.
    """
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": GRAY, "width": 12}, opacity=0.22, name="perfect", hoverinfo="skip"
    )
    x = [b.confidence for b in found.bins]
    figure.add_scatter(
        x=x,
        y=[b.target for b in found.bins],
        mode="lines",
        line={"color": INK, "width": 1.5},
        name="target's probability",
        hovertemplate="target %{y:.2f}<extra></extra>",
    )
    figure.add_scatter(
        x=x,
        y=[b.accepted for b in found.bins],
        mode="markers",
        marker={"color": BLUE, "size": 9},
        name="accepted",
        customdata=[b.count for b in found.bins],
        error_y=_wilson_bars(found.bins, BLUE),
        hovertemplate="confidence %{x:.2f}, accepted %{y:.2f} of %{customdata}<extra></extra>",
    )
    figure.update_xaxes(range=[-0.02, 1.02], title="confidence", dtick=0.2)
    figure.update_yaxes(range=[-0.02, 1.02], title="accepted", dtick=0.2)
    return calm(figure, height=420, left=52, bottom=48)


def reliability_by_width(found: Mapping[float, Bin]) -> go.Figure:
    """The share accepted in stretches of equal width, by the middle of each, with 95 % bars and its count written above.

    A tick on each bar is the mean confidence of what fell into it: where bar and tick agree, confidence is acceptance.
    """
    figure, x, bins = go.Figure(), list(found), list(found.values())
    figure.add_bar(
        x=x,
        y=[one.accepted for one in bins],
        name="accepted",
        marker_color=BLUE,
        opacity=0.75,
        customdata=[one.count for one in bins],
        error_y=_wilson_bars(bins, INK),
        hovertemplate="accepted %{y:.2f} of %{customdata}<extra></extra>",
    )
    figure.add_scatter(
        x=x,
        y=[one.confidence for one in bins],
        mode="markers",
        name="mean confidence",
        marker={"symbol": "line-ew", "size": 16, "line": {"color": INK, "width": 2.5}},
        hovertemplate="mean confidence %{y:.2f}<extra></extra>",
    )
    _counts_above(figure, x, [(one.count, max(one.high, one.confidence)) for one in bins])
    figure.update_layout(bargap=0.15)
    figure.update_xaxes(range=[0, 1], title="confidence, in stretches of equal width", dtick=0.2)
    figure.update_yaxes(range=[0, 1.14], title="accepted", tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return calm(figure, height=420, left=52, bottom=48)


def _wilson_bars(bins: Sequence[Bin], colour: str) -> dict[str, object]:
    """The 95 % interval of each accepted share as plotly's error bars."""
    above, below = [one.high - one.accepted for one in bins], [one.accepted - one.low for one in bins]
    return {"type": "data", "array": above, "arrayminus": below, "color": colour, "thickness": 1.5}


def _counts_above(figure: go.Figure, x: Sequence[float], counts: Sequence[tuple[int, float]]) -> None:
    """How many observations each bar stands for, written above its highest mark (count, height)."""
    figure.add_scatter(
        x=list(x),
        y=[height for _, height in counts],
        mode="text",
        text=[f"{count}" for count, _ in counts],
        textposition="top center",
        textfont={"size": SIZES["small"]},
        name="count",
        showlegend=False,
        hoverinfo="skip",
        cliponaxis=False,
    )


def acceptance_by(groups: Sequence[Group], title: str) -> go.Figure:
    """Mean confidence and share accepted of nodes of one depth or rank, side by side, their count above them."""
    figure = go.Figure()
    for name, colour, field in (("confidence", GRAY, "confidence"), ("accepted", BLUE, "accepted")):
        figure.add_bar(
            x=[group.key for group in groups],
            y=[getattr(group, field) for group in groups],
            name=name,
            marker_color=colour,
            customdata=[group.count for group in groups],
            hovertemplate=f"{name} %{{y:.2f}} of %{{customdata}}<extra></extra>",
        )
    figure.add_scatter(
        x=[group.key for group in groups],
        y=[group.target for group in groups],
        mode="markers",
        name="target's probability",
        marker={"color": INK, "size": 7, "symbol": "diamond"},
        hovertemplate="target's probability %{y:.2f}<extra></extra>",
    )
    heights = [max(group.confidence, group.accepted, group.target) for group in groups]
    counts = [(group.count, height) for group, height in zip(groups, heights, strict=True)]
    _counts_above(figure, [group.key for group in groups], counts)
    figure.update_layout(barmode="group", bargap=0.3, bargroupgap=0.08)
    figure.update_xaxes(dtick=1, title=title)
    figure.update_yaxes(range=[0, 1.25 * max(heights, default=1.0)])
    return calm(figure, height=220, bottom=44)


def speed_curve(
    static: np.ndarray, dynamic: np.ndarray, budget: int, names: tuple[str, str], early: np.ndarray | None = None
) -> go.Figure:
    """Speed against plain decoding (1: as fast) at budgets 0, 1, ...; the best budget of each is marked, and named unless 0,
    in the legend, where no curve runs through the words.

    ``early``: the dynamic tree again, its draft stopped where nothing deeper can enter it (dotted).
    """
    figure = go.Figure()
    if early is not None:
        _line(figure, early, BLUE, f"{names[1]}, draft stopped early", hovertemplate="%{x} nodes: %{y:.2f}")
        figure.data[-1].line.dash = "dot"
    for values, colour, name in ((static, GRAY, names[0]), (dynamic, BLUE, names[1])):
        best = int(np.nanargmax(values))
        named = f"{name}, best: {best}" if best else name
        _line(figure, values, colour, named, hovertemplate=f"%{{x}} nodes: %{{y:.2f}}<extra>{name}</extra>")
        figure.add_scatter(
            x=[best],
            y=[values[best]],
            mode="markers",
            marker={"color": colour, "size": 10},
            showlegend=False,
            hoverinfo="skip",
        )
    figure.add_hline(y=1, line={"color": INK, "width": 1, "dash": "dash"})
    figure.add_vline(x=budget, line={"color": INK, "width": 1, "dash": "dot"})
    figure.update_layout(hovermode="x")
    figure.update_xaxes(
        range=[0, len(dynamic) - 1], tickvals=[tick for tick in TICKS if tick < len(dynamic)], title="budget, nodes"
    )
    figure.update_yaxes(rangemode="tozero", ticksuffix="×")
    return calm(figure, height=320, bottom=44)


def gain_against_sureness(
    groups: Mapping[str, Sequence[Sureness]], line: Sequence[Sureness], drafters: Sequence[Sureness] = ()
) -> go.Figure:
    """Gain in percent against the mean confidence of the first candidate: a dot a text, a colour a drafter.

    ``line``: EAGLE-2 over EAGLE-1's shape on synthetic landscapes, one entry a sharpness. ``drafters``: the same on many live
    contexts, a square a drafter.
    """
    figure = go.Figure()
    figure.add_scatter(
        x=[one.top for one in line],
        y=[100 * one.gain for one in line],
        mode="lines",
        name="EAGLE-2 over EAGLE-1, synthetic",
        line={"color": GRAY, "width": 2.5, "dash": "dot"},
        text=[one.title for one in line],
        hovertemplate="%{text}: %{y:+.0f} %<extra></extra>",
    )
    for (name, found), colour, symbol in zip(groups.items(), cycle((BLUE, INK)), cycle(("circle", "diamond")), strict=False):
        figure.add_scatter(
            x=[one.top for one in found],
            y=[100 * one.gain for one in found],
            mode="markers",
            name=name,
            marker={"color": colour, "size": 9, "symbol": symbol},
            text=[f"{one.title}, {one.contexts} contexts" for one in found],
            hovertemplate="%{text}: first confidence %{x:.2f}, gain %{y:+.0f} %<extra></extra>",
        )
    if drafters:
        figure.add_scatter(
            x=[one.top for one in drafters],
            y=[100 * one.gain for one in drafters],
            mode="lines+markers",
            name="whole drafters, table below",
            line={"color": INK, "width": 1},
            marker={"color": INK, "size": 12, "symbol": "square-open", "line": {"width": 2}},
            text=[f"{one.title}, {one.contexts:,} contexts" for one in drafters],
            hovertemplate="%{text}: first confidence %{x:.2f}, gain %{y:+.1f} %<extra></extra>",
        )
    figure.update_xaxes(range=[0, 1.02], title="mean confidence of the first candidate", dtick=0.2)
    figure.update_yaxes(ticksuffix=" %")
    return calm(figure, height=320, bottom=44)


def ladder(rungs: Sequence[Rung], titles: Sequence[str], accepted: bool = True) -> go.Figure:
    """Bars: expected tokens with the target's probabilities; rings: the drafter's estimate (none for the oracle, which has no
    drafter); ticks: ``accepted``."""
    figure = go.Figure()
    names = list(titles)
    figure.add_bar(
        x=[rung.target for rung in rungs],
        y=names,
        orientation="h",
        name="target's probabilities",
        marker_color=[BLUE if rung.name in ("eagle2", "full") else GRAY for rung in rungs],
        text=["" if isnan(rung.target) else f"{rung.target:.2f}" for rung in rungs],
        textposition="inside",
        insidetextanchor="start",
        hovertemplate="target's probabilities %{x:.2f}<extra></extra>",
    )
    marks = [("drafter's estimate", "circle-open", "expected"), ("accepted in the texts", "line-ns", "accepted")]
    for name, symbol, field in marks[: 1 + accepted]:
        figure.add_scatter(
            x=[None if field == "expected" and rung.name == "oracle" else getattr(rung, field) for rung in rungs],
            y=names,
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 12, "color": INK, "line": {"color": INK, "width": 2}},
            hovertemplate=f"{name} %{{x:.2f}}<extra></extra>",
        )
    figure.update_layout(bargap=0.35)
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(autorange="reversed", showgrid=False, automargin=True)
    return calm(figure, height=70 + 42 * len(rungs))


def calm(figure: go.Figure, height: int = 230, legend: bool = True, left: int = 36, bottom: int = 30) -> go.Figure:
    """One look for all charts: no background, one thin grid, the legend in a line above."""
    figure.update_layout(
        height=height,
        margin={"l": left, "r": 12, "t": 30 if legend else 10, "b": bottom},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": SIZES["small"], "color": GRAY},
        showlegend=legend,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False},
        hoverlabel={"font": {"family": FONT, "size": SIZES["small"]}},
        uirevision="keep",
    )
    figure.update_xaxes(showgrid=False, zeroline=False, fixedrange=True, linecolor=RULE, showline=True)
    figure.update_yaxes(gridcolor=RULE, zeroline=False, fixedrange=True)
    return figure
