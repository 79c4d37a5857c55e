"""Charts of the map of speeds and of what-if questions: numbers come from core, colours and look from ``figures``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..core.distortion import Lie
from ..core.mixed import Mixed
from ..core.speed_map import SpeedMap
from .figures import BLUE, GRAY, INK, calm

SHADES = [[0, "rgba(37,99,235,0.12)"], [1, "rgba(37,99,235,0.95)"]]
SHADED = "rgba(22,27,44,0.28)"
BUDGETS = [1, 16, 32, 64, 96, 128]


def speed_map(found: SpeedMap) -> go.Figure:
    """Speed over budget (x) and max_depth (y): blank where plain decoding is as fast, shaded where at most 2 % is lost, the best
    marked. Each cell tells its top_k and tau on hover.
    """
    levels, budgets = found.speed.shape
    figure = go.Figure()
    figure.add_heatmap(
        x=np.arange(1, budgets + 1),
        y=np.arange(1, levels + 1),
        z=np.where(found.pays, found.speed, np.nan),
        customdata=np.stack([found.top_k, found.tau, found.passes], axis=-1),
        colorscale=SHADES,
        zmin=1,
        hovertemplate="budget %{x}, max_depth %{y}: %{z:.2f}×<br>top_k %{customdata[0]}, tau %{customdata[1]:.2f}, "
        "%{customdata[2]:.1f} draft passes<extra></extra>",
        colorbar={
            "orientation": "h",
            "thickness": 10,
            "y": -0.3,
            "yanchor": "top",
            "ticksuffix": "×",
            "outlinewidth": 0,
            "nticks": 5,
        },
    )
    x, y = _outlines(found.near_best)
    figure.add_scatter(
        x=x,
        y=y,
        fill="toself",
        fillcolor=SHADED,
        mode="lines",
        line={"color": INK, "width": 1},
        name="at most 2 % slower than the best",
    )
    figure.data[-1].hoverinfo = "skip"
    if found.pays.any():
        row, column = found.best
        figure.add_scatter(
            x=[column + 1],
            y=[row + 1],
            mode="markers+text",
            text=[f"best: {column + 1} nodes"],
            textposition="top right" if column < budgets / 2 else "top left",
            marker={"color": INK, "size": 11, "symbol": "diamond"},
            showlegend=False,
            hoverinfo="skip",
        )
    figure.update_xaxes(range=[0.5, budgets + 0.5], tickvals=BUDGETS, title="budget, nodes")
    figure.update_yaxes(range=[0.5, levels + 1.2], tickvals=list(range(1, levels + 1)), title="max_depth", showgrid=False)
    return calm(figure, height=400, left=48, bottom=100)


def _outlines(cells: np.ndarray) -> tuple[list[float | None], list[float | None]]:
    """Corners of a rectangle around each run of cells in a row, ``None`` between two rectangles."""
    x: list[float | None] = []
    y: list[float | None] = []
    for row, inside in enumerate(cells, start=1):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], inside.astype(np.int8), [0]))))
        for left, right in edges.reshape(-1, 2).tolist():
            x += [left + 0.5, right + 0.5, right + 0.5, left + 0.5, left + 0.5, None]
            y += [row - 0.5, row - 0.5, row + 0.5, row + 0.5, row - 0.5, None]
    return x, y


def along_budget(values: np.ndarray, best: int, name: str, suffix: str = "") -> go.Figure:
    """One row of the map against the budget (entry i at budget i + 1), the fastest budget marked: tau or speed."""
    figure = go.Figure()
    figure.add_scatter(
        x=np.arange(1, len(values) + 1),
        y=values,
        mode="lines",
        line={"color": BLUE if suffix else GRAY, "width": 2.5},
        name=name,
        hovertemplate=f"%{{x}} nodes: %{{y:.2f}}{suffix}<extra></extra>",
    )
    figure.add_vline(x=best, line={"color": INK, "width": 1, "dash": "dot"})
    figure.update_xaxes(range=[0, len(values)], tickvals=BUDGETS, title="budget, nodes")
    figure.update_yaxes(rangemode="tozero", ticksuffix=suffix)
    return calm(figure, height=210, bottom=44)


def gain_against_spread(rows: Sequence[Mixed]) -> go.Figure:
    """Gain of each context's own tree over the best fixed shape, in percent, by the spread of the contexts' sharpness."""
    figure = go.Figure()
    figure.add_scatter(
        x=[row.spread for row in rows],
        y=[100 * row.gain for row in rows],
        mode="lines+markers",
        line={"color": BLUE, "width": 2.5},
        name="dynamic over the best fixed shape",
        hovertemplate="spread %{x}: %{y:+.1f} %<extra></extra>",
    )
    figure.update_xaxes(title="spread of the contexts' sharpness", dtick=0.5)
    figure.update_yaxes(rangemode="tozero", ticksuffix=" %")
    return calm(figure, height=230, bottom=44)


def lie_curve(found: Sequence[Lie], budget: int) -> go.Figure:
    """Tokens a pass (bonus not counted) at budgets 0, 1, ...: of the honest drafter's tree, of the lying one's, and its promise."""
    figure = go.Figure()
    for name, field, colour, dash in (
        ("promised by the lying drafter", "promised", GRAY, "dot"),
        ("tree of the honest drafter", "honest", INK, "dash"),
        ("tree of the lying drafter", "worth", BLUE, "solid"),
    ):
        figure.add_scatter(
            x=np.arange(len(found)),
            y=[getattr(one, field) for one in found],
            mode="lines",
            name=name,
            line={"color": colour, "width": 2.5, "dash": dash},
            hovertemplate="%{x} nodes: %{y:.2f}",
        )
    figure.add_vline(x=budget, line={"color": INK, "width": 1, "dash": "dot"})
    figure.update_layout(hovermode="x")
    figure.update_xaxes(range=[0, len(found) - 1], title="budget, nodes")
    figure.update_yaxes(rangemode="tozero")
    return calm(figure, height=320, bottom=44)
