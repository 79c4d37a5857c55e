"""The map on the page says what the simulation and the times say."""

import pytest

from eagle_viz.core.cost import BFLOAT16
from eagle_viz.core.recording import read, shipped
from eagle_viz.core.simulation import tally, whole
from eagle_viz.core.speed_map import speed_map
from tests.ui.conftest import SHORT
from tests.ui.pages import said


@pytest.fixture(scope="module")
def every():
    """All contexts of the short recording."""
    recording = read(shipped()[SHORT]).for_greedy()
    return whole(tally((recording.kind, cycle) for cycle in recording.cycles))


def test_the_best_setting_its_flags_and_the_front_stand_on_the_page(every, speed_page):
    """The sentence names the best cell of the map over all contexts; a larger batch has a smaller best budget."""
    app = speed_page()
    told = said(app)
    found = speed_map(every, BFLOAT16)
    row, column = found.best
    assert (
        f"budget {column + 1}, max_depth {row + 1}, top_k {found.top_k[row, column]}" in told
        and f"over {every.count} contexts" in told
    )
    assert "map-front" in told and "map-batches" in told and "At most 2 %" not in told
    code = " ".join(block.value for block in app.code)
    assert "total_token=" in code and "--speculative-num-steps" in code and "num_speculative_tokens" in code
    app.select_slider[0].set_value(32).run()
    assert not app.exception and "At batch 32" in said(app)
    other = speed_map(every, BFLOAT16, 32)
    assert not other.pays.any() or f"budget {other.best[1] + 1}," in said(app)


@pytest.mark.parametrize("times,wanted", [("1:10 2:1000", "plain decoding"), ("1:10 64:5", "64:5 given after 10 ms")])
def test_where_nothing_pays_or_times_fall_a_sentence_says_so(speed_page, times, wanted):
    """No map is drawn of nothing, and no table with falling times is priced."""
    app = speed_page(times=times)
    assert not app.exception and wanted in said(app)


def test_texts_that_the_target_drafted_have_no_map(speed_page):
    """Their greedy acceptance says nothing."""
    app = speed_page(recording="oracle-fact")
    assert not app.exception and "drafted these texts itself" in said(app) and "map-best" not in said(app)
