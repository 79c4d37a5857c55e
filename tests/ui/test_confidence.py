"""Confidence view on recordings that lack something: it shows what they hold, and says what is left out."""

from dataclasses import replace

import pytest

from eagle_viz import POLICIES, RecordedLandscape
from eagle_viz.core import recording
from eagle_viz.core.landscape import Candidates
from eagle_viz.core.readout import draft_up_to
from eagle_viz.ui import library
from eagle_viz.ui.files import Files
from tests.ui.pages import opened, said

SHIPPED = recording.read(recording.shipped()["smollm2-135m-eagle3-fact"])


def holding(cycle, candidates):
    return replace(cycle, landscape=RecordedLandscape(candidates, cycle.landscape.root_token, cycle.landscape.texts))


def narrow(cycle):
    """Only what EAGLE-1's shape and EAGLE-2 at six levels expand at 128 nodes, as a live run records first."""
    known = cycle.landscape.candidates
    kept = {
        path
        for policy in (POLICIES["eagle1"](), POLICIES["eagle2"]())
        for frontier in draft_up_to(policy, cycle.landscape, 128)[0].frontiers
        for path in frontier
    }
    return holding(cycle, {path: known[path] for path in kept})


def without_target(cycle):
    known = cycle.landscape.candidates
    return holding(cycle, {path: Candidates(row.tokens, row.confidences) for path, row in known.items()})


def changed(name, change=lambda cycle: cycle, **more):
    return replace(SHIPPED, **({"name": name, "cycles": tuple(map(change, SHIPPED.cycles[:2])), "average": None} | more))


def open_view(found, **query):
    state = {"files": Files(recordings={found.name: found})}
    page = opened(state=state, **({"view": "confidence", "recording": found.name} | query))
    return said(page), len(page.get("plotly_chart"))


def test_a_narrow_live_recording_shows_its_rungs_and_names_the_others():
    """Reliability and the ladder of what was drafted; chain, best static, best-first and the oracle need more than it holds."""
    found = changed("live-narrow", narrow, made={"holds": {"policies": ["EAGLE-1 shape", "EAGLE-2"]}}, drafter="alone")
    shown, charts = open_view(found)
    assert charts >= 4 and "does not say that it answers for every setting" in shown
    assert "Left out, because these recordings do not hold what it needs: " in shown and "Best static shape" in shown


def test_without_the_targets_probabilities_the_ladder_still_stands():
    """No reliability, which needs them, but the drafter's estimates and what was accepted; the upper bound is left out."""
    shown, charts = open_view(changed("bare", without_target, made={}, drafter="alone2"))
    assert charts >= 1 and 'data-testid="ece"' not in shown and "target_probabilities: not recorded here" in shown
    assert "nan" not in shown.lower()
    assert "Upper bound (oracle)" in shown


@pytest.mark.parametrize("holds", [3, None, "budget", ["budget"], {"budget": "x"}])
def test_whatever_a_file_says_it_holds_breaks_no_view(holds, monkeypatch):
    """A foreign header beside a shipped recording of the same drafter's name: every view on recordings stands."""
    every = library.same_drafter
    beside = {SHIPPED.name, f"odd-{type(holds).__name__}"}  # of nine recordings these two, so that a view takes a second
    monkeypatch.setattr(library, "same_drafter", lambda name: tuple(one for one in every(name) if one in beside))
    for view in ("confidence", "speed"):
        open_view(changed(f"odd-{type(holds).__name__}", made={"holds": holds}), recording=SHIPPED.name, view=view)
