"""What the page says of real text is counted on the recordings, and the tour's numbers are the core's."""

import re

import pytest

from eagle_viz import POLICIES
from eagle_viz.core import recording
from eagle_viz.core.readout import draft_up_to, wasted_nodes
from eagle_viz.core.reliability import wilson
from eagle_viz.ui import story
from eagle_viz.ui.presets import PRESETS, note
from eagle_viz.ui.settings import Settings
from eagle_viz.ui.stops import STOPS, settings_at
from eagle_viz.ui.world import LandscapeKey, landscape, sides
from tests.ui.pages import opened, said


def accepted(name, budget=25):
    """Each pass's accepted tokens of EAGLE-1's shape and EAGLE-2, straight from the policies."""
    pairs = []
    for cycle in recording.read(recording.shipped()[name]).for_greedy().cycles:
        trees = [draft_up_to(POLICIES[policy](), cycle.landscape, budget)[0].tree for policy in ("eagle1", "eagle2")]
        pairs.append(tuple(cycle.verdict(tree).accept_length for tree in trees))
    return pairs


def test_the_line_of_real_text_is_what_both_trees_got_there():
    """The text, both counts and both stretches of the first example are those of the recording."""
    found = story.first_example()
    rec = recording.read(recording.shipped()[found.recording])
    assert found.counts == accepted(found.recording)[found.position] and found.counts[1] > found.counts[0]
    continuation = "".join(rec.texts[token] for token in rec.cycles[found.position].continuation[: found.counts[1]])
    assert found.kept[1] == " ".join(continuation.split()) and found.kept[1].startswith(found.kept[0])
    assert " ".join(rec.answer.split()).find(f"{found.before} {found.kept[1]}") >= 0
    assert f"EAGLE-2 “{found.kept[1]}” ({found.counts[1]} token" in found.line


def test_how_often_the_dynamic_tree_is_ahead_is_counted_over_all_texts():
    """Wins, losses and the interval are recounted; an example is never shown without them at the tour's stop."""
    pairs = [pair for name in recording.shipped() if not name.startswith("oracle") for pair in accepted(name)]
    more, fewer = sum(b > a for a, b in pairs), sum(b < a for a, b in pairs)
    low, high = (round(100 * bound) for bound in wilson(more, len(pairs)))
    said = story.how_often()
    assert f"in {more} of {len(pairs)} passes" in said and f"fewer in {fewer}" in said and f"{low} to {high} %" in said
    stop = next(stop for stop in STOPS if stop.told is not str)
    assert stop.told() == said


def test_the_tours_real_text_is_one_where_eagle2_wins_visibly():
    """Over the whole text it gets more tokens accepted than EAGLE-1's shape, and in the marked pass too."""
    number = next(place for place, stop in enumerate(STOPS, start=1) if stop.told is not str)
    settings = settings_at(number)
    pairs = accepted(settings.recording)
    few, more = pairs[settings.position]
    assert more > few and sum(b for _, b in pairs) > sum(a for a, _ in pairs)


def test_a_text_in_which_eagle2_is_never_ahead_has_no_example(monkeypatch):
    """Then nothing is claimed."""
    monkeypatch.setattr(story, "counts", lambda name: [(1, 1), (2, 0)])
    assert story.first_example() is None and story.clearest_example() == {}


@pytest.mark.parametrize("number", [place for place, stop in enumerate(STOPS, start=1) if stop.changes.get("view") is None])
def test_every_amount_at_a_stop_is_in_its_picture(number):
    """Numbers with two decimals at a stop are values, factors or sums of the trees that it shows."""
    settings, text = settings_at(number), STOPS[number - 1].text
    land = landscape(LandscapeKey.of(settings))
    drafts = [draft_up_to(key.policy(), land, settings.budget)[0] for key in sides(settings)]
    trees = [draft.tree for draft in drafts]
    known = {f"{value:.2f}" for tree in trees for value in (*tree.values, *tree.confidences, tree.expected_accepted)}
    assert set(re.findall(r"\d\.\d\d", text)) <= known
    for wasted in re.findall(r"(\d+) of its nodes are worth less", text):
        assert int(wasted) == len(wasted_nodes(*drafts))


def link(app):
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}


def test_the_bare_address_begins_before_the_first_node_and_any_link_shows_what_it_names():
    """Step 0 is written into the link; a link without a step shows whole trees, one with a step that step."""
    assert link(opened()) == {"step": "0"}
    assert "step" not in link(opened(seed="61")) and link(opened(step="7")) == {"step": "7"}
    assert link(opened(view="lab")) == {"view": "lab"}


def test_the_line_of_real_text_opens_that_pass():
    """One click from the first view to the text: the recording and the position of the example, both trees whole."""
    app, example = opened(), story.first_example()
    button = app.button(key="see_real_text")
    assert example.before in re.sub(r"\\(.)", r"\1", button.label)
    button.click().run()
    assert {"view": "text", "recording": example.recording}.items() <= link(app).items()
    assert link(app).get("position", "0") == str(example.position) and "step" not in link(app)


def test_the_note_of_a_loaded_preset_is_there_on_arrival():
    """Above the stage, in place of the introduction, once."""
    page = said(opened(preset="tail"))
    assert page.count("Ten candidates, none of them likely") == 1 and 'data-testid="loaded-preset"' in page
    assert 'data-testid="intro"' in said(opened()) and 'data-testid="loaded-preset"' not in said(opened())
    text = said(opened(preset="limerick"))
    assert text.count("Verse is open") == 1 and text.index("Verse is open") < text.index("card-title")


def test_a_presets_note_says_what_it_was_loaded_with_once_that_was_changed():
    """The sentence's numbers belong to the trees that it was loaded with."""
    start = Settings()
    assert note(start) == PRESETS["sharp"].sentence and note(start.but(seed=5)) == ""
    assert note(start.but(static="chain")).startswith("Loaded with EAGLE-1 shape (gray): At most places")
    assert note(start.but(budget=9, top_k=3)).startswith("Loaded with 25 nodes and top_k 10: ")
