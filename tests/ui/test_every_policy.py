"""Every shipped policy on the page: it draws its trees, shows its own parameters, and gives the command line's numbers."""

import json

import pytest

from eagle_viz.commands import main
from eagle_viz.core.policies import POLICIES
from eagle_viz.ui import library, stage_panel, world
from eagle_viz.ui.settings import Settings
from tests.ui.pages import opened, said


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


@pytest.mark.parametrize("recording", ["smollm2-135m-eagle3-fact", "smollm2-135m-eagle3-python", "oracle-maths"])
def test_recorded_text_is_drawn_as_far_as_it_holds_a_policys_trees(recording):
    """With the page's own settings best-first has its trees in every context; where larger ones are not recorded the trace ends."""
    cut = 0
    for position in range(len(library.read_recording(recording).cycles)):
        settings = Settings(source="recording", recording=recording, position=position, dynamic="best_first")
        trace = stage_panel.trace_of(settings, bare=False)
        assert settings.budget <= trace["tier"] and trace["curve_to"] <= world.most_budget(settings)
        kept = POLICIES["best_first"].offered()(world.landscape(world.LandscapeKey.of(settings)), settings.budget).tree
        assert trace["sides"]["dynamic"]["curve"][settings.budget] == kept.expected_accepted
        cut += stage_panel.is_cut(settings, trace)
    assert cut or recording.startswith("smollm2")


def test_a_cut_recording_says_how_far_it_goes_and_offers_no_more():
    """A link to a context that holds 32 nodes of best-first: one sentence, no exception."""
    app = opened(view="lab", source="recording", recording="oracle-maths", position="0", dynamic="best_first")
    assert not app.exception and "This recording holds the trees of these policies up to" in said(app)
