"""The page's state: what a change makes of it, and which parts run again. No streamlit is needed for that."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_viz.ui.page import CHARTS, SETTINGS, STAGE, WHOLE, Origin, Page, Refusal, frame, touched, trees
from eagle_viz.ui.settings import ALL_STEPS, Settings


def drawn(*notes, **settings):
    """A page that has run to its end, its trees painted."""
    page = Page.opened(Settings(**settings), notes, {})
    return replace(page, painted=page.revision, frame=frame(page))


LAB = drawn()
TEXT = drawn(view="text", recording="fact")
BARE = drawn(hide="settings,charts")
W, S, C = Origin.WIDGET, Origin.STAGE, Origin.CONTENT


@pytest.mark.parametrize(
    ("page", "change", "origin", "own", "parts"),
    [
        (LAB, {}, W, {}, ()),
        (LAB, {"seed": 62}, W, {}, (STAGE, SETTINGS)),
        (LAB, {"static": "chain"}, W, {}, (STAGE, SETTINGS)),
        (LAB, {"view": "speed"}, W, {}, WHOLE),
        (LAB, {"source": "levels"}, W, {}, WHOLE),
        (LAB, Settings(tour=1, step=4), W, {}, WHOLE),
        (LAB, Settings(preset="sharp"), W, {}, WHOLE),
        (drawn(preset="sharp"), {"sharpness": 1.0}, W, {}, WHOLE),
        (drawn(preset="sharp"), {"budget": 26}, S, {}, (STAGE, CHARTS)),
        (LAB, Settings(), W, {}, (STAGE, CHARTS)),
        (LAB, {"step": 3}, S, {}, ()),
        (LAB, {"mode": "phases", "step": 0}, S, {}, ()),
        (LAB, {"budget": 26}, S, {}, (STAGE, CHARTS)),
        (LAB, {"budget": 64}, W, {}, (STAGE, CHARTS)),
        (LAB, {"budget": 200}, S, {}, (STAGE, SETTINGS)),
        (LAB, {"sharpness": 1.0}, S, {"held": True}, ()),
        (LAB, {"sharpness": 1.0}, S, {}, (STAGE, SETTINGS)),
        (LAB, {}, W, {"large": True}, (STAGE, SETTINGS, CHARTS)),
        (LAB, {}, C, {}, WHOLE),
        (drawn(dynamic="max_sweep"), {"budget": 33}, S, {}, (STAGE,)),
        (drawn(dynamic="max_sweep"), {"budget": 26}, S, {}, (STAGE, CHARTS)),
        (TEXT, {"step": 3}, S, {}, ()),
        (TEXT, {"budget": 26}, S, {}, WHOLE),
        (TEXT, {"position": 2}, W, {}, WHOLE),
        (BARE, {"budget": 26}, S, {}, (STAGE,)),
        (BARE, {"seed": 62}, W, {}, (STAGE,)),
        (replace(LAB, frame=None), {"seed": 62}, W, {}, WHOLE),
        (drawn("a sentence"), {"seed": 62}, W, {}, WHOLE),
        (replace(LAB, held=True), {}, S, {}, (STAGE, SETTINGS, CHARTS)),
    ],
)
def test_a_change_runs_the_parts_that_show_it_and_no_others(page, change, origin, own, parts):
    """The table of what runs again: in the lab, in the view on real text, with parts hidden, before the page stands."""
    assert touched(page, page.changed(change, origin, **own)) == parts


def test_the_charts_follow_the_trees_once():
    """New trees run without the charts; the browser's answer brings them, and brings them once."""
    moved = LAB.changed({"seed": 62})
    assert not moved.standing and touched(moved, moved.has_painted(LAB.revision)) == ()
    answered = moved.has_painted(moved.revision)
    assert answered.standing and touched(moved, answered) == (STAGE, CHARTS)
    assert touched(answered, answered.has_painted(moved.revision)) == ()


def test_a_slider_let_go_brings_what_waited_for_it():
    """While it is held only the stage runs; letting go runs the column too, even where the last value was reported before."""
    held = LAB.changed({"sharpness": 1.0}, Origin.STAGE, held=True)
    still = held.changed({"sharpness": 0.5}, Origin.STAGE, held=True)
    freed = still.changed({"sharpness": 0.5}, Origin.STAGE)
    assert touched(held, still) == () and touched(still, freed) == (STAGE, SETTINGS)
    assert not still.changed({"seed": 3}).held


CHANGES = st.one_of(
    st.builds(dict, seed=st.integers(0, 3)),
    st.builds(dict, budget=st.sampled_from([4, 25, 26, 200])),
    st.builds(dict, step=st.integers(-1, 4)),
    st.builds(Settings, seed=st.integers(0, 3), step=st.just(ALL_STEPS)),
)


@given(st.lists(st.tuples(CHANGES, st.sampled_from(Origin)), max_size=8))
def test_the_stage_is_told_what_others_change_and_never_what_it_reports(changes):
    """After any sequence of changes: what the stage was told plus what it reported since is what the settings say."""
    page, shown = LAB, (25, 25, "nodes")
    for change, origin in changes:
        after = page.changed(change, origin)
        now, told = after.settings, after.told
        wanted = (now.budget, now.budget if now.step == ALL_STEPS else min(now.step, now.budget), now.mode)
        if told != page.told:
            assert told.revision == after.revision > page.revision
            shown = (told.budget, told.step, told.mode)
        elif origin is Origin.STAGE:
            shown = wanted
        assert shown == wanted
        page = after


@given(st.lists(st.tuples(CHANGES, st.sampled_from(Origin)), max_size=8))
def test_trees_stay_painted_exactly_while_nothing_changes_them(changes):
    """The browser is asked again after every change of the trees, and after no other."""
    page = LAB
    for change, origin in changes:
        after = page.changed(change, origin)
        assert after.standing == (trees(after) == trees(page))
        page = after.has_painted(after.revision)


def test_only_what_stands_outside_the_stage_takes_the_sentences_about_the_link_away():
    """A step leaves them to be read, a setting does not."""
    page = drawn("sharpness: 99 given")
    assert page.changed({"step": 3}, Origin.STAGE).notes and not page.changed({"seed": 3}).notes


def test_the_largest_budgets_stay_within_reach_once_they_were_seen():
    """A budget above 128 opens the range up to 512; it stays open when the budget falls again, until it is shut by hand."""
    seen = LAB.changed({"budget": 200}).changed({"budget": 20})
    assert seen.large and not seen.changed({}, large=False).large


def test_other_trees_asked_for_before_the_first_node_are_shown_whole():
    """At step 0 a moved slider would change nothing that one sees; the stage's own word about its step is kept."""
    start = drawn(step=0)
    assert start.changed({"sharpness": 1.0}).settings.step == ALL_STEPS
    assert start.changed({"sharpness": 1.0}).told.step == start.settings.budget
    assert start.changed({"step": 0, "mode": "phases"}, S).settings.step == 0
    assert start.changed({"sharpness": 1.0, "step": 0}, S).settings.step == start.changed({"view": "lab"}).settings.step == 0
    assert drawn(step=3).changed({"seed": 5}).settings.step == 3


def test_what_was_refused_is_forgotten_once_the_setting_changes():
    """A refusal belongs to what was typed last; another value or another start takes it away, another setting does not."""
    page = replace(LAB, refused={"levels": Refusal("x", "no number")})
    assert page.changed({"seed": 5}).refused == page.refused
    assert page.changed({"levels": "0.9"}).refused == page.changed(Settings(preset="flat")).refused == {}
