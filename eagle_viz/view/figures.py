"""Plotly charts around the stage. They look: every number they show is computed in core and handed in.

Colours are those of the light theme; the page's style sheet maps them, and all text, to the theme that is on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..core.population import Population

GRAY = "#737c91"
BLUE = "#2563eb"
INK = "#161b2c"
RULE = "#e4e7ee"
FONT = '"Source Sans", "Source Sans 3", sans-serif'
TICKS = [0, 16, 32, 64, 96, 128, 192, 256, 384, 512]


def budget_curve(static: np.ndarray, dynamic: np.ndarray, budget: int, names: tuple[str, str], most: int = 128) -> go.Figure:
    """Expected accepted tokens against the budget, a line a tree, entry i at budget i; the current budget is marked.

    A column without ink stands over each budget, so that a click anywhere picks it (its x is the budget).
    """
    top = max(float(static[-1]), float(dynamic[-1]), 1.0) * 1.12
    figure = go.Figure()
    figure.add_bar(
        x=list(range(1, most + 1)),
        y=[top] * most,
        width=1,
        marker_color="rgba(0,0,0,0)",
        showlegend=False,
        hoverinfo="none",
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        name="budget",
    )
    for values, colour, name in ((static, GRAY, names[0]), (dynamic, BLUE, names[1])):
        figure.add_scatter(
            x=np.arange(len(values)),
            y=values,
            mode="lines",
            name=name,
            line={"color": colour, "width": 2.5},
            hovertemplate="%{y:.2f}",
        )
        at = min(budget, len(values) - 1)
        figure.add_scatter(
            x=[at], y=[values[at]], mode="markers", marker={"color": colour, "size": 10}, showlegend=False, hoverinfo="skip"
        )
    figure.add_vline(x=budget, line={"color": INK, "width": 1, "dash": "dot"})
    figure.update_layout(hovermode="x", clickmode="event+select", dragmode=False)
    ticks = sorted({tick for tick in TICKS if tick <= most and abs(tick - budget) > most / 24} | {budget})
    figure.update_xaxes(range=[0, most], tickvals=ticks)
    figure.update_yaxes(range=[0, top])
    return _calm(figure)


def by_depth(static: np.ndarray, dynamic: np.ndarray, names: tuple[str, str]) -> go.Figure:
    """Expected accepted tokens of each level, 1 first: what depth pays for."""
    figure = go.Figure()
    for values, colour, name in ((static, GRAY, names[0]), (dynamic, BLUE, names[1])):
        figure.add_bar(
            x=np.arange(1, len(values) + 1), y=values, name=name, marker_color=colour, hovertemplate="level %{x}: %{y:.2f}"
        )
    figure.update_layout(barmode="group", bargap=0.3, bargroupgap=0.08)
    figure.update_xaxes(dtick=1 if max(len(static), len(dynamic)) <= 12 else 2)
    return _calm(figure)


def gain_against_sharpness(rows: Sequence[Population], current: Population) -> go.Figure:
    """Mean gain of EAGLE-2 over EAGLE-1's shape and over the best static shape, in percent, by sharpness; the current marked."""
    figure = go.Figure()
    x = [row.sharpness for row in rows]
    lines = (
        ("over EAGLE-1's shape", BLUE, "solid", "gain_over_eagle1"),
        ("over the best static shape", INK, "dash", "gain_over_static"),
    )
    for name, colour, dash, field in lines:
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
            textposition="top left",
            marker={"color": colour, "size": 10},
            showlegend=False,
            hoverinfo="skip",
        )
    figure.add_vline(x=current.sharpness, line={"color": INK, "width": 1, "dash": "dot"})
    figure.update_layout(hovermode="x")
    figure.update_xaxes(range=[min(x), max(x) * 1.02], tickvals=[0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4])
    figure.update_yaxes(rangemode="tozero", ticksuffix=" %")
    return _calm(figure)


def _calm(figure: go.Figure, height: int = 230, legend: bool = True) -> go.Figure:
    """One look for all charts: no background, one thin grid, the legend in a line above."""
    figure.update_layout(
        height=height,
        margin={"l": 36, "r": 12, "t": 30 if legend else 10, "b": 30},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 12, "color": GRAY},
        showlegend=legend,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False},
        hoverlabel={"font": {"family": FONT, "size": 12}},
        uirevision="keep",
    )
    figure.update_xaxes(showgrid=False, zeroline=False, fixedrange=True, linecolor=RULE, showline=True)
    figure.update_yaxes(gridcolor=RULE, zeroline=False, fixedrange=True)
    return figure
