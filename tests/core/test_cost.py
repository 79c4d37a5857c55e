"""Cost of a pass, speed against plain decoding."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from eagle_viz.core.cost import TIMES, PassCost, parse_times, price_warnings, speedup

LINEAR = PassCost("linear", (1, 11), (10.0, 20.0), 2.0)


def test_time_is_what_was_measured_there_and_straight_in_between_and_beyond():
    for cost in TIMES.values():
        np.testing.assert_allclose(cost.verify(np.array(cost.sizes)), cost.verify_ms)
    np.testing.assert_allclose(LINEAR.verify([1, 6, 11, 21]), [10, 15, 20, 30])


def test_a_pass_beyond_the_last_size_never_gets_cheaper():
    times = parse_times("mine", "1:10 2:5").verify(np.arange(1, 200))
    assert times[0] == 10 and set(times[1:]) == {5}


def test_speed_by_hand():
    # budget 10 is 11 positions, 20 ms, and 3 draft passes of 2 ms: 26 ms for 1 + 1.6 tokens, plain decoding 10 ms for one
    assert speedup(LINEAR, np.array([1.6]), [10], [3]) == pytest.approx([2.6 / 26 * 10])


def test_nothing_drafted_is_plain_decoding():
    assert speedup(LINEAR, np.array([0.0]), [0], [0]) == pytest.approx([1.0])


@pytest.mark.parametrize(
    "sizes,times,draft,field",
    [
        ((1,), (1.0,), 0, "Give at least two sizes"),
        ((2, 3), (1.0, 1.0), 0, "sizes"),
        ((1, 1), (1.0, 1.0), 0, "sizes"),
        ((1, 2), (0.0, 1.0), 0, "verify_ms"),
        ((1, 2), (1.0, 1.0), -1, "draft_ms"),
    ],
)
def test_a_table_that_is_none_is_refused(sizes, times, draft, field):
    with pytest.raises(ValueError, match=f"{field}.*(given, allowed is|for example)"):
        PassCost("bad", sizes, times, draft)


def test_written_times_are_read_back():
    for cost in TIMES.values():
        assert parse_times(cost.title, cost.text) == cost


@pytest.mark.parametrize(
    ("text", "best", "batch", "wanted"),
    [
        ("1:10 128:11 draft:0.6", 40, 1, []),
        ("1:10 128:11", 40, 1, ["No draft: time is given"]),
        ("1:10 64:11 draft:0", 40, 1, ["more than 64 positions were not measured: their time is extrapolated."]),
        ("1:10 64:10 draft:1", 40, 1, ["extrapolated (flat)."]),
        ("1:10 128:11 draft:1", 40, 8, ["more than 128 positions were not measured"]),
        ("1:10 128:10 draft:1", 128, 1, ["EAGLE-2 is fastest at 128 nodes, the largest budget looked at"]),
        ("1:10 2:10", 128, 1, ["No draft:", "extrapolated (flat)", "the largest budget"]),
    ],
)
def test_what_times_leave_open_is_said_and_nothing_else(text, best, batch, wanted):
    """Three warnings, each exactly where its cause is: no draft time, unmeasured sizes, an optimum at the edge."""
    found = price_warnings(parse_times("mine", text), {"EAGLE-2": best}, 128, batch)
    assert len(found) == len(wanted) and all(part in said for part, said in zip(wanted, found, strict=True))


def test_times_without_a_draft_are_written_back_without_one():
    """What was not known stays unknown in the text that people edit."""
    assert parse_times("mine", "1:10 2:11").text == "1:10 2:11" and "draft:0" in parse_times("mine", "1:10 2:11 draft:0").text


@pytest.mark.parametrize(
    "text",
    ["", "1", "1:2", "1:2 x:3", "1:2 4:nan", "1:2 4:inf", "1:2:3 4:5", "4:5 1:2", "1:0 2:1", "1:1 2:2 2:3", "1:1 2:2 draft:-1"]
    + ["1:1e308 2:1e308", "1:1e-300 2:1", "1:1 2:2 draft:1e10", "1:1 2:2 plain:0"]
    + ["1:10 1048577:20", "1:10 99999999999999999999:20"],
)
def test_times_that_are_none_are_one_sentence(text):
    with pytest.raises(ValueError, match="given, allowed|Give at least two sizes"):
        parse_times("mine", text)


@hypothesis.given(st.text(max_size=60) | st.text("0123456789:. -e,draftplin", max_size=40).map("1:10 2:20 ".__add__))
def test_any_text_is_times_of_finite_passes_or_one_sentence(text):
    try:
        cost = parse_times("mine", text)
    except ValueError as error:
        assert str(error) and "\n" not in str(error)
    else:
        assert np.isfinite(cost.verify([1, 26, 513])).all() and parse_times("mine", cost.text).sizes == cost.sizes
