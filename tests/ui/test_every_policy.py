"""Every shipped policy on the page: it draws its trees, shows its own parameters, and gives the command line's numbers."""

import json

import pytest

from eagle_viz.commands import main
from eagle_viz.core.policies import POLICIES
from eagle_viz.ui import world
from eagle_viz.ui.settings import Settings
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


def on_the_command_line(capsys, name, *options):
    """Node values by path of the tree that ``tree`` prints for the page's seed."""
    assert main(["tree", "--seed", "61", "--policy", name, "--json", *options]) == 0
    return {node["path"]: node["value"] for node in json.loads(capsys.readouterr().out)["nodes"]}


def on_the_page(name, **settings):
    """Node values by path of the page's tree."""
    chosen = Settings(dynamic=name, **settings)
    tree = world.draft(world.LandscapeKey.of(chosen), world.sides(chosen)[1], chosen.budget).tree
    return {".".join(map(str, path)): value for path, value in list(zip(tree.paths, tree.values.tolist(), strict=True))[1:]}


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_keeps_the_same_nodes_on_the_page_and_on_the_command_line(name, capsys):
    """One rule for what nobody has set; and a depth that is set means the same on both."""
    assert on_the_command_line(capsys, name) == pytest.approx(on_the_page(name))
    if any(entry.name == "max_depth" for entry in POLICIES[name].parameters):
        flat = on_the_command_line(capsys, name, "--max-depth", "3")
        assert flat == pytest.approx(on_the_page(name, max_depth=3)) and max(map(len, flat)) == len("0.0.0")


@pytest.mark.parametrize("name", POLICIES)
def test_only_best_first_is_offered_otherwise_than_the_library_makes_it(name):
    """The page's six levels are the library's defaults too, but for the optimum without a cap."""
    assert (POLICIES[name].offered() == POLICIES[name]()) == (name != "best_first")
