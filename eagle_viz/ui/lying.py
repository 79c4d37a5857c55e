"""What if the drafter lies? Confidences bent away from acceptance, and what the trees that they choose lose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from ..core.distortion import Distortion, Lie, lie_curve
from ..core.landscape import SyntheticLandscape
from ..core.policies import Eagle2
from ..view import speed_figures
from . import chrome, session

CONTEXTS = 24
"""Synthetic contexts behind each number: enough for the curve, few enough for a slider."""
MOST = 60
"""Nodes of the largest tree of the curve: the paper's 59 and one more."""
WORDS = (
    "The contexts stay as they are; only the drafter's confidences are bent before EAGLE-2 sees them. Its tree is then chosen by "
    "wrong numbers, and what it is worth is counted with the true ones."
)
POWER = (
    "A power on confidences turns every path product v into v to that power. Larger stays larger, so the promise changes and the "
    "tree never does: what loses tokens is a wrong order of products, not their size."
)


def card() -> None:
    """Sliders of the lie on the left, tokens a pass over the budget on the right; runs alone while one moves a slider."""
    with st.container(key="card-lying", border=True):
        now = session.current()
        aside = (
            f"EAGLE-2 on {CONTEXTS} synthetic contexts of sharpness {now.sharpness:g}, expected tokens a pass, bonus not counted"
        )
        chrome.card_title("What if the drafter lies?", aside)
        st.html(f'<p class="quiet">{WORDS}</p>')
        _inside()


@st.fragment(key="lying")
def _inside() -> None:
    now = session.current()
    left, right = st.columns([1, 2.2], gap="medium")
    with left:
        distortion = _chosen(now.max_depth)
    with right, chrome.in_one_sentence():
        found = lies(now.sharpness, now.branching, now.coverage, now.top_k, now.max_depth, distortion)
        budget = min(now.budget, len(found) - 1)
        st.html(f"<p class='verdict' data-testid='lie'>{verdict(found[budget], budget, distortion)}</p>")
        chrome.chart(
            speed_figures.lie_curve(found, budget),
            key="lie-curve",
            alt="Tokens a pass over the budget: tree of the lying drafter, of the honest one, and what the lying one promises",
        )


def _chosen(levels: int) -> Distortion:
    """The lie that the sliders tell. Its temperature goes in equal steps from the first level to the deepest."""
    help_ = "Below 1 the drafter is overconfident, above 1 underconfident. Confidences of one node keep their order and their sum."
    first = _slider("Temperature at level 1", "lie_first", 0.2, 4.0, 1.0, help_)
    deepest = _slider(f"Temperature at level {levels}", "lie_deepest", 0.2, 4.0, 1.0, "Levels between them lie in between.")
    noise = _slider("Noise", "lie_noise", 0.0, 2.0, 0.0, "Each confidence times exp(noise * z), z normal.")
    shuffled = _slider("Shuffled", "lie_shuffled", 0.0, 1.0, 0.0, "Share of nodes whose confidences change hands at random.")
    power = _slider("Power", "lie_power", 0.2, 4.0, 1.0, "On every path product.")
    st.html(f'<p class="quiet">{POWER}</p>')
    temperature = tuple(np.linspace(first, deepest, levels).round(6).tolist())
    return Distortion(temperature, noise, shuffled, power)


def _slider(label: str, key: str, low: float, high: float, start: float, told: str) -> float:
    return st.slider(label, low, high, start, 0.1, help=told, **session.own(key))


@st.cache_resource(max_entries=64, show_spinner=False)
def lies(sharpness: float, branching: int, coverage: float, top_k: int, max_depth: int, distortion: Distortion) -> Sequence[Lie]:
    """What the lie costs at budgets 0, 1, ... ``MOST``, or as many nodes as these settings score."""
    contexts = [SyntheticLandscape(seed, sharpness, branching, coverage) for seed in range(CONTEXTS)]
    return lie_curve(contexts, Eagle2(top_k, max_depth), MOST, distortion)


def verdict(found: Lie, budget: int, distortion: Distortion) -> str:
    """Promise, worth and loss at one budget in a sentence that follows the signs."""
    told = f"At {budget} nodes the lying drafter promises {found.promised:.2f} tokens; its tree is worth"
    if distortion == Distortion((1.0,) * len(distortion.temperature)):
        return f"The drafter is honest: at {budget} nodes it promises {found.promised:.2f} tokens and gets them. Move a slider."
    lost = round(100 * found.lost, 1)
    honest = f"the honest drafter's {found.honest:.2f}"
    if lost == 0:
        return f"{told} {found.worth:.2f}, {honest} as well: <b class='dynamic'>nothing is lost</b>."
    if lost < 0:
        return (
            f"{told} {found.worth:.2f} against {honest}: {-lost:.1f} % more tokens a pass, bonus counted. EAGLE-2's beam misses "
            "good nodes, and this lie happens to lead it to some of them."
        )
    loss = f"<b class='dynamic'>{lost:.1f} % of the tokens a pass are lost</b>, bonus counted"
    return f"{told} {found.worth:.2f} against {honest}: {loss}."
