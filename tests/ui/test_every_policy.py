"""Every shipped policy on the page: it draws its trees, shows its own parameters, and says so where a recording lacks nodes."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from eagle_viz.core.policies import POLICIES
from eagle_viz.ui.parts import NO_BROWSER

APP = str(Path(__file__).parents[2] / "app.py")


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_chosen_on_either_side_with_its_own_parameters(name):
    """No view fails; its sliders stand in the drawer and those of policies that are not chosen do not."""
    app = AppTest.from_file(APP, default_timeout=120)
    app.session_state[NO_BROWSER] = True
    app.session_state["more"] = True
    app.query_params.update({"static": name, "dynamic": name})
    app.run()
    assert not app.exception
    labels = {slider.label for slider in app.slider}
    usual = {entry.label for entry in POLICIES["eagle2"].parameters if entry.start is not None}
    offered = {entry.label for policy in POLICIES.values() for entry in policy.parameters if entry.start is not None}
    own = {entry.label for entry in POLICIES[name].parameters if entry.start is not None}
    assert labels & offered == own | usual
