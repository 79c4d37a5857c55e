"""Pass times from rows of SGLang's benchmark: rows made from known times give them back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_viz.imports.sglang_times import read_times


def lines(rows, timed="step_time"):
    """Rows of (batch, steps, slots, seconds) as the benchmark writes them, with an accept length of 2.5."""
    made = []
    for batch, steps, slots, seconds in rows:
        length = 2.5 if steps else 1.0
        time = {"step_time": seconds} if timed == "step_time" else {"throughput": batch * length / seconds}
        made.append({"batch_size": batch, "steps": steps, "topk": 4, "num_draft_tokens": slots, "acc_length": length, **time})
    return "\n".join(map(json.dumps, made))


@pytest.mark.parametrize("timed", ["step_time", "throughput"])
@given(st.lists(st.floats(0.1, 50), min_size=5, max_size=5), st.floats(0, 5))
def test_times_that_made_the_rows_are_found(timed, steps_up, draft):
    """step time = t(batch * slots) + steps * draft, whatever the times."""
    times = dict(zip((1, 2, 16, 32, 64), (sum(steps_up[: i + 1]) for i in range(5)), strict=True))
    settings = [(1, 0, 0), (2, 0, 0), (1, 3, 16), (1, 5, 16), (2, 3, 16), (2, 5, 32)]
    rows = [(b, s, n, (times[b * (n if s else 1)] + s * draft) / 1e3) for b, s, n in settings]
    found = read_times(lines(rows, timed))
    assert found.sizes == (1, 2, 16, 32, 64)
    assert found.verify_ms == pytest.approx(tuple(times.values()), rel=1e-4) and found.draft_ms == pytest.approx(draft, abs=1e-3)


@pytest.mark.parametrize(
    "rows,said",
    [
        ([(1, 3, 16, 0.01), (1, 5, 16, 0.02)], "needed is a run of steps 0 at batch_size 1"),
        ([(1, 0, 0, 0.01), (1, 3, 16, 0.02)], "cannot be told"),
        ([(0, 0, 0, 0.01), (1, 3, 16, 0.02)], "batch_size 0"),
        ([], "rows: none with"),
    ],
)
def test_rows_that_do_not_tell_are_one_sentence(rows, said):
    """What is missing is named."""
    with pytest.raises(ValueError, match=said):
        read_times(lines(rows))


def test_more_steps_in_less_time_is_a_draft_that_costs_nothing():
    """Noise never gives a draft pass a negative time: 16 positions take the mean of both runs."""
    assert read_times(lines([(1, 0, 0, 0.010), (1, 3, 16, 0.014), (1, 5, 16, 0.012)])).text == "1:10 16:13 draft:0"
