"""The card of a lying drafter: its sliders make a distortion, its sentence follows what is lost."""

import pytest
from streamlit.testing.v1 import AppTest

from eagle_viz.core.distortion import Distortion, Lie, lie
from eagle_viz.core.landscape import SyntheticLandscape
from eagle_viz.core.policies import Eagle2
from eagle_viz.ui import lying
from tests.ui.pages import said

CONTEXTS = [SyntheticLandscape(seed) for seed in range(lying.CONTEXTS)]


def alone():
    """A page that holds the card and nothing else."""
    from eagle_viz.ui import lying, session

    session.begin()
    lying.card()


@pytest.fixture(scope="module")
def page():
    return AppTest.from_function(alone, default_timeout=60).run()


@pytest.mark.parametrize(
    ("key", "value", "distortion"),
    [
        ("lie_noise", 1.0, Distortion(noise=1.0)),
        ("lie_shuffled", 0.5, Distortion(shuffled=0.5)),
        ("lie_deepest", 2.0, Distortion((1.0, 1.2, 1.4, 1.6, 1.8, 2.0))),
        ("lie_power", 2.0, Distortion(power=2.0)),
    ],
)
def test_a_slider_tells_its_lie(page, key, value, distortion):
    """What the card says at the page's budget is the core's number for that distortion; moved back, the drafter is honest."""
    start = page.slider(key=key).value
    page.slider(key=key).set_value(value).run()
    found = lie(CONTEXTS, Eagle2(), 25, distortion)
    assert not page.exception
    assert f"promises {found.promised:.2f} tokens" in said(page) and f"{found.worth:.2f}" in said(page)
    loss = "nothing is lost" if key == "lie_power" else f"{100 * found.lost:.1f} % of the tokens a pass are lost"
    assert loss in said(page) and "The drafter is honest" not in said(page)
    page.slider(key=key).set_value(start).run()
    assert "The drafter is honest" in said(page)


def test_the_sentence_follows_the_sign():
    """Half of (1 + 1) / (1 + 3) lost, nothing, or more where a beam is led to better nodes."""
    bent = Distortion(noise=1.0)
    assert "50.0 % of the tokens a pass are lost" in lying.verdict(Lie(2.0, 1.0, 3.0), 9, bent)
    assert "nothing is lost" in lying.verdict(Lie(2.0, 3.0, 3.0), 9, bent)
    assert "25.0 % more tokens a pass" in lying.verdict(Lie(2.0, 4.0, 3.0), 9, bent)
