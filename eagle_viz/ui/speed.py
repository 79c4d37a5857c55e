"""Budget and speed: more nodes are more tokens a pass, but a slower pass; and what dynamic trees buy on each kind of text."""

from __future__ import annotations

from html import escape

import numpy as np
import streamlit as st

from ..core.cost import PassCost, price_warnings, speedup
from ..core.replay import tau, unequal_sentence
from ..view import figures
from . import (
    chrome,
    controls,
    library,
    many_contexts,
    opened_simulation,
    predicted,
    replays,
    session,
    several,
    speed_map,
    times,
    world,
)
from .settings import USUAL_BUDGET, Settings

WORDS = (
    "Every node is one more position in the verify pass. Where a pass over 60 positions takes hardly longer than over one, "
    "spend; where each position is paid for, the best tree is small. More nodes never lower expected "
    "tokens per pass, but can lower tokens per second."
)
ORACLE = (
    "These texts were drafted by the target itself: a supposed drafter that is perfectly calibrated yet as cheap as a head. "
    "Counted is what sampling at temperature 1 accepts. The real thing needs a whole target pass for each draft pass and is "
    "never faster."
)
SLOWER = "speculation is slower than plain decoding at every budget"
REPORTED = (
    ("Vicuna-7B", "2.90 / 3.94", "3.62 / 4.98"),
    ("Vicuna-13B", "3.07 / 3.98", "4.26 / 4.83"),
    ("LLaMA2-Chat-7B", "2.78 / 3.62", "3.43 / 4.70"),
    ("LLaMA2-Chat-13B", "3.03 / 3.90", "4.21 / 4.75"),
)
"""Speed-up / tau of EAGLE and EAGLE-2, MT-bench, temperature 0 (arXiv 2406.16858, table 1)."""


def panel(settings: Settings) -> None:
    """Speed over the budget under a chosen cost of passes, and the table by kind of text."""
    controls.recorded_view(settings, _show, position=False, more=times.choose)


def _show() -> None:
    st.html(f'<p class="intro">{WORDS}</p>')
    now = session.current()
    names, cost = library.same_drafter(now.recording), times.cost_of(now)
    opened_simulation.card(now, cost)
    _speed(now, names, cost)
    speed_map.card(now, names, cost)
    several.card(now, names)
    predicted.card()
    _bought(now, names)
    many_contexts.card()


def _speed(settings: Settings, names: tuple[str, ...], cost: PassCost) -> None:
    sides = world.sides(settings)
    with st.spinner("Replaying the recorded texts at every budget …"):
        oracle = library.is_oracle(settings.recording)
        found = [replays.tokens_at_every_budget(names, side, oracle) for side in sides]
    speeds = [speedup(cost, one.tokens, one.nodes, one.passes) for one in found]
    fewer = replays.early_passes(names, sides[1]) if sides[1].policy().stopping_early() else None
    early = None if fewer is None else speedup(cost, found[1].tokens, found[1].nodes, fewer)
    drafter = library.drafted_by(library.read_recording(settings.recording))
    with st.container(key="card-speed", border=True):
        chrome.card_title("Speed against plain decoding", f"{cost.title}; {len(names)} recorded texts, drafted by {drafter}")
        chrome.chart(
            figures.speed_curve(*speeds, settings.budget, tuple(side.title for side in sides), early),
            key="speed",
            alt="Speed against plain decoding over the budget, both policies",
        )
        fastest = {side.title: int(np.nanargmax(speed)) for side, speed in zip(sides, speeds, strict=True)}
        anew = [_anew(side, speed) for side, speed in zip(sides, speeds, strict=True) if np.isnan(speed).any()]
        remarks = [*price_warnings(cost, fastest, USUAL_BUDGET), *replays.remarks(names[0], sides), *anew]
        chrome.remarks(remarks, "price-warnings")
        if oracle:
            st.html(f'<p class="quiet">{ORACLE}</p>')
        st.html("".join(map(_verdict, sides, speeds, found, ("static", "dynamic"), [settings.budget] * 2)))
        if early is not None:
            chrome.html(_early(sides[1].title, early, fewer, found[1].passes))


def _anew(side: world.PolicyKey, speed: np.ndarray) -> str:
    last = int(np.flatnonzero(~np.isnan(speed))[-1])
    more = "; its larger trees are not in these recordings" if last < replays.LOOKED_AT[-1] else ""
    return f"{side.title} chooses anew at each budget: it was replayed at the budgets with a dot, up to {_nodes(last)}{more}."


def _early(title: str, speed: np.ndarray, fewer: np.ndarray, passes: np.ndarray) -> str:
    """What stopping the draft early would give: the same trees in fewer passes. Nothing where even so no budget pays."""
    best = int(np.nanargmax(speed))
    if best == 0:
        return ""
    return (
        f"<p class='verdict' data-testid='speed-early'>{escape(title)} always makes all its draft passes. Stopping as soon as no "
        f"deeper candidate can enter the tree keeps the same nodes: {fewer[best]:.1f} of {passes[best]:.0f} passes at "
        f"{_nodes(best)}, "
        f"{speed[best]:.2f} times plain decoding.</p>"
    )


def _verdict(side: world.PolicyKey, speed: np.ndarray, found: replays.AtBudgets, css: str, budget: int) -> str:
    best, here = int(np.nanargmax(speed)), int(np.flatnonzero(~np.isnan(speed[: budget + 1]))[-1])
    now = f"At {_nodes(here)} it gets {1 + found.tokens[here]:.2f} tokens a pass and {speed[here]:.2f} times the speed"
    name, made = f"<b class='{css}'>{side.title}</b>", int(round(float(found.passes[here])))
    passes = f"{made} draft pass{'es' * (made != 1)}" + ("; try fewer" if made > 1 else "")
    if best == 0:
        said = f"{name}: {SLOWER} ({passes}). {now} of plain decoding."
    elif speed[best] < 1:
        said = (
            f"{name}: {SLOWER} ({passes}); it comes closest at {_nodes(best)}, with {speed[best]:.2f} times the speed of plain "
            f"decoding. {now}."
        )
    else:
        said = (
            f"{name} is fastest at {_nodes(best)}: {speed[best]:.2f} times plain decoding with {1 + found.tokens[best]:.2f} tokens "
            f"a pass. {now}."
        )
    return f"<p class='verdict' data-testid='speed-{css}'>{said}</p>"


def _nodes(count: int) -> str:
    return f"{count} node{'s' * (count != 1)}"


def _bought(settings: Settings, names: tuple[str, ...]) -> None:
    """Measured here by text, beside what the paper reports; each labelled as what it is."""
    sides = world.sides(settings)
    with st.container(key="card-bought", border=True):
        chrome.card_title("What it buys", "same drafter, same verification; only the tree policy changes")
        here, paper = st.columns([1.5, 1], gap="medium")
        here.html(_here(settings, names, sides))
        rows = "".join(f"<tr><td>{model}</td><td>{first}</td><td>{second}</td></tr>" for model, first, second in REPORTED)
        paper.html(
            "<table class='numbers'><caption>Reported by the paper: speed-up / tau</caption><tr><th>Target</th><th>EAGLE</th>"
            f"<th>EAGLE-2</th></tr>{rows}</table><p class='quiet'>MT-bench, temperature 0, heads trained on "
            "far more data (arXiv 2406.16858, table 1).</p>"
        )


def _here(settings: Settings, names: tuple[str, ...], sides: tuple) -> str:
    rows, everything, oracle = [], [[], []], library.is_oracle(names[0])
    for name in names:
        recording = library.read_recording(name)
        passes = [replays.passes(name, side, settings.budget) for side in sides]
        for all_of, found in zip(everything, passes, strict=True):
            all_of += found
        rows.append(_row(library.described(recording), passes, oracle))
    rows.append(_row("all", everything, oracle).replace("<tr>", "<tr class='all'>"))
    first, second = (escape(side.title) for side in sides)
    drafter = escape(library.drafted_by(library.read_recording(names[0])))
    expected = "" if oracle else " (expected in brackets)"
    caption = f"Measured here: tau, tokens a verify pass, at {_nodes(settings.budget)}{expected}"
    head = f"<tr><th>Text</th><th>{first}</th><th>{second}</th><th>Gain</th><th>Passes</th></tr>"
    counted = "expected at temperature 1" if oracle else "in the recorded greedy answers"
    note = f"Tokens a verify pass, bonus counted, {counted}, drafted by {drafter}; same contexts for both."
    table = f"<table class='numbers' data-testid='bought'><caption>{caption}</caption>{head}{''.join(rows)}</table>"
    gap = "" if oracle else library.gap_sentence(names[0], [tau(found) for found in everything])
    return f"{table}<p class='quiet'>{note} {unequal_sentence(*everything)} {gap}</p>"


def _row(title: str, passes: list, oracle: bool) -> str:
    (expected, static), (hoped, dynamic) = map(tau, passes)
    if oracle:
        cells = (f"{expected:.2f}", f"{hoped:.2f}", f"{hoped / expected - 1:+.0%}", len(passes[0]))
    else:
        cells = (
            f"{static:.2f} <i>({expected:.2f})</i>",
            f"{dynamic:.2f} <i>({hoped:.2f})</i>",
            f"{dynamic / static - 1:+.0%}",
            len(passes[0]),
        )
    return f"<tr><td>{escape(title)}</td>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
