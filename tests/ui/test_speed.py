"""What a change of a parameter costs in Python, in processor time, so that a busy machine does not blur it; Budget & speed."""

import os
import time
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.replay import replay
from eagle_viz.ui import library, replays
from eagle_viz.ui.settings import Settings
from eagle_viz.ui.world import PolicyKey

AIM = 0.3
"""Seconds from a widget to the stage's new trees; the charts come after them."""

TEXT = "smollm2-135m-eagle3-numbers"
APP = str(Path(__file__).parents[2] / "app.py")


@pytest.mark.speed
@pytest.mark.parametrize("key,values", [("set_seed", range(500, 520)), ("set_sharpness", [0.5 + 0.15 * i for i in range(20)])])
def test_a_new_landscape_is_redrawn_soon(key, values):
    app = AppTest.from_file(APP, default_timeout=120).run()
    times = []
    for value in values:
        widget = app.number_input(key=key) if key == "set_seed" else app.slider(key=key)
        widget.set_value(value)
        began = time.process_time()
        app.run()
        times.append(time.process_time() - began)
        assert not app.exception
    crowded = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))  # shared caches make even processor time grow
    assert sorted(times)[int(0.95 * len(times)) - 1] < AIM * crowded, times


@pytest.mark.parametrize("times", ["1:10 2:20", "1:10 2:1000", "1:1 2:1"])
def test_any_two_times_that_a_link_carries_are_shown_or_refused_in_a_sentence(times):
    """Times at which stopping the draft early pays nowhere leave its sentence out; an empty text once stopped the page."""
    app = AppTest.from_file(APP, default_timeout=120)
    app.query_params["view"], app.query_params["times"] = "speed", times
    app.run()
    assert not app.exception


@pytest.mark.parametrize("name", ["priced", "max_sweep", "opt_tree"])
def test_a_policy_that_chooses_anew_at_each_budget_has_numbers_where_it_was_replayed(name):
    """Law: each number is the mean over the trees drafted with that very budget, smaller ones too; others are unknown."""
    cycles = library.read_recording(TEXT).cycles
    key = PolicyKey.of(name, Settings())
    found = replays.tokens_at_every_budget((TEXT,), key, False)
    known = np.flatnonzero(~np.isnan(found.tokens))
    assert set(known) <= {0, *replays.LOOKED_AT} and {0, 1, 8, 10} <= set(known)
    for budget in (1, 8, 10):
        trees = [draft_up_to(key.policy(), cycle.landscape, budget)[0].tree for cycle in cycles]
        written = [replay(cycle, tree).written for cycle, tree in zip(cycles, trees, strict=True)]
        assert found.tokens[budget] == pytest.approx(np.mean(written) - 1)
        assert found.nodes[budget] == pytest.approx(np.mean([tree.budget for tree in trees])) and found.nodes[budget] <= budget
