"""Every shipped policy on the page: it draws its trees, shows its own parameters, and says so where a recording lacks nodes."""

import pytest

from eagle_viz.core.policies import POLICIES
from tests.ui.pages import opened


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_chosen_on_either_side_with_its_own_parameters(name):
    """No view fails; its sliders stand in the drawer and those of policies that are not chosen do not."""
    app = opened(state={"more": True}, static=name, dynamic=name)
    labels = {slider.label for slider in app.slider}
    usual = {entry.label for entry in POLICIES["eagle2"].parameters if entry.start is not None}
    offered = {entry.label for policy in POLICIES.values() for entry in policy.parameters if entry.start is not None}
    own = {entry.label for entry in POLICIES[name].parameters if entry.start is not None}
    assert labels & offered == own | usual
