"""The stage as one HTML file that works offline: the same JavaScript, its trace inside."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from .assets import inert_json, player_template, source, style

MODES = ("nodes", "phases", "verify")


def player_html(
    trace: Mapping[str, object],
    *,
    budget: int = 25,
    step: int | None = None,
    mode: str = "nodes",
    title: str = "",
    height: int = 440,
) -> str:
    """A self-contained page that plays a trace at this budget and step (default: all of the budget).

    Raises ``ValueError`` for a budget that the trace does not serve, a step beyond the budget, an unknown mode.
    """
    step = budget if step is None else step
    if not 1 <= budget <= trace["tier"]:
        raise ValueError(f"budget: {budget} given, this trace serves 1 to {trace['tier']}")
    if not 0 <= step <= budget:
        raise ValueError(f"step: {step} given, allowed is 0 to the budget, {budget}")
    if mode not in MODES:
        raise ValueError(f"mode: {mode!r} given, allowed is one of {', '.join(MODES)}")
    data = {
        "trace": trace,
        "command": {"told": 1, "budget": budget, "step": step, "mode": mode},
        "options": {"offline": True, "max_budget": trace["tier"], "height": height},
    }
    parts = {
        "TITLE": html.escape(title or str(trace["label"]) or "Draft trees"),
        "PROMPT": html.escape(str(trace.get("prompt") or "")),
        "STYLE": style(),
        "SOURCE": source(),
        "DATA": inert_json(data),
    }
    return re.sub(r"%%(\w+)%%", lambda found: parts[found[1]], player_template())
