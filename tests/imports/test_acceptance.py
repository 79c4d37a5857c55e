"""Intervals, the chain landscape, checks and the comparison of two runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from eagle_viz import POLICIES
from eagle_viz.core.readout import draft_up_to
from eagle_viz.imports import Acceptance, check, difference
from eagle_viz.imports.acceptance import reached_from_histogram
from eagle_viz.imports.printed import Printed

HISTOGRAMS = some.lists(some.integers(0, 50), min_size=2, max_size=8).filter(sum)


def run(*histogram, **more):
    counts = list(histogram)
    accepted = sum(index * count for index, count in enumerate(counts))
    plain = {"passes": sum(counts), "accepted": accepted, "reached": reached_from_histogram(counts)}
    return Acceptance("example", "", **plain | more)


@given(HISTOGRAMS)
def test_the_chain_expects_what_the_passes_accepted(histogram):
    """The landscape of conditional rates, drafted as a chain over all positions, expects tau - 1 tokens a pass."""
    found = run(*histogram)
    if found.positions[0].rate is None:
        return
    draft, _ = draft_up_to(POLICIES["chain"](), found.landscape, 25)
    assert draft.tree.expected_accepted == pytest.approx(found.tau - 1)


@given(HISTOGRAMS)
def test_histogram_and_positions_tell_the_same(histogram):
    """The histogram comes back, and a rate is the share of those that accepted all before."""
    found = run(*histogram)
    assert list(found.histogram) == histogram
    for position in found.positions:
        before, here = sum(histogram[position.position - 1 :]), sum(histogram[position.position :])
        assert position.trials == before and position.rate == (here / before if before else None)


def test_positions_that_nobody_reached_are_unknown():
    """No pass accepted position 1: position 2 has neither rate nor interval, and the chain ends."""
    found = run(5, 0, 0)
    assert (found.positions[0].rate, found.positions[1].rate, found.positions[1].low) == (0, None, None)
    assert found.landscape.confidences == ((0.0,), (0.0,))


@pytest.mark.parametrize("policy", list(POLICIES))
def test_every_policy_keeps_the_measured_chain_and_no_more(policy):
    """Asked for 25 nodes of a chain of three, each policy keeps these three."""
    draft, _ = draft_up_to(POLICIES[policy](), run(40, 24, 16, 20).landscape, 25)
    assert list(draft.order) == [(0,), (0, 0), (0, 0, 0)]


def test_a_file_without_positions_makes_no_landscape():
    """One rate for all positions is no tree."""
    with pytest.raises(ValueError, match="no acceptance by position"):
        Acceptance("example", "", said_tau=2.0).landscape  # noqa: B018


@pytest.mark.parametrize("passes", [37, 100, 489])
def test_printed_figures_give_the_passes_back(passes):
    """A line printed from known counts leads back to them, however its figures were rounded."""
    counts = (passes * 3 // 4, passes // 2, passes // 5)
    rates = tuple(float(f"{count / passes:.3f}") for count in counts)
    line = Printed(float(f"{1 + sum(counts) / passes:.2f}"), sum(counts), 3 * passes, rates)
    assert line.reached() == (passes, *counts)


def sentences(found):
    return " ".join(check(found))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (run(1, 1, drafted=0), "1 accepted of 0 drafted"),
        (run(10, 20, drafted=10), "an acceptance of 2, above 1"),
        (Acceptance("example", "", passes=10, accepted=32, reached=(10, 12, 20)), "position 1 is 1.2, above 1"),
        (run(10, 10, passes=21), "20 passes in the histogram, 21 in all"),
        (run(10, 10, accepted=12), "10 accepted tokens by position, 12 in all"),
        (run(10, 10, said_tau=0.5), "says 0.500 tokens a pass, its counts give 1.500"),
        (Acceptance("example", "", said_tau=2.0, steps=2, draft_slots=2), "num_draft_tokens 2 with 2 steps"),
        (run(96, 4), "tau is 1.040, hardly above 1"),
        (run(200, 160, 640), "flat (0.80 at position 1, 0.80 at position 2) and 64% of the passes accept all 2"),
        (run(300, 500, 200), "falls from 0.70 at position 1 to 0.29 at position 2"),
    ],
)
def test_what_is_wrong_is_said_with_its_number(found, words):
    """Each check is one sentence with the number that triggered it."""
    assert words in sentences(found)


def test_a_sound_run_has_no_finding():
    """Rates that fall a little, counts that add up, a printed tau within its rounding."""
    assert check(run(400, 240, 160, 200, drafted=3000, said_tau=2.16)) == ()


def test_newcombe_agrees_with_the_published_example():
    """56/70 against 48/80 (Newcombe 1998, table II, method 10): 0.2, from 0.0524 to 0.3339."""
    gap = difference(run(32, 48), run(14, 56)).positions[0]
    assert (gap.difference, gap.low, gap.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_a_run_against_itself_is_noise_and_a_much_better_one_is_not():
    """The interval of equal runs holds 0; 0.4 against 0.8 over a thousand passes does not."""
    weak, strong = run(600, 400), run(200, 800)
    same, better = difference(weak, weak), difference(weak, strong)
    assert not same.tau.real and "no more than noise" in same.sentence
    assert better.tau.real and better.positions[0].real and "+0.400" in better.sentence


def test_files_without_counts_are_not_called_different():
    """Two averages alone say nothing about noise."""
    sentence = difference(Acceptance("a", "", said_tau=2.0), Acceptance("b", "", said_tau=2.5)).sentence
    assert "+0.500" in sentence and "nobody can say" in sentence
