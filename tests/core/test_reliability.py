"""Confidence against acceptance, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_viz import DraftTree, Node, Verdict
from eagle_viz.core.greedy import GreedyCalibration, GreedyLandscape
from eagle_viz.core.landscape import Candidates, RecordedLandscape
from eagle_viz.core.policies import BestFirst
from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.reliability import (
    Observations,
    bins_of_equal_width,
    by_depth,
    by_rank,
    clustered_mean,
    observe,
    reliability,
    sampled_value,
    wilson,
)


def test_observations_are_the_children_of_the_root_and_of_accepted_nodes():
    """The text takes node 1 and its third child: four drafted nodes have a reached parent, priced by the target at their place."""
    target = {(): [0.2, 0.6, 0.1], (0,): [0.9, 0.05, 0.01], (1,): [0.3, 0.1, 0.5]}
    confidences, tokens = np.array([0.5, 0.25, 0.125]), np.arange(3)
    landscape = RecordedLandscape({path: Candidates(tokens, confidences, np.array(row)) for path, row in target.items()})
    kept = [(0,), (1,), (0, 0), (1, 0), (1, 2)]
    tree = DraftTree.from_nodes(Node(path, path[-1], float(confidences[path[-1]])) for path in kept)
    seen = observe(landscape, tree, Verdict((tree.index[(1,)], tree.index[(1, 2)]), 5))
    assert seen.depth.tolist() == [1, 1, 2, 2] and seen.rank.tolist() == [0, 1, 0, 2]
    assert seen.accepted.tolist() == [False, True, False, True]
    assert seen.confidence.tolist() == [0.5, 0.25, 0.5, 0.125] and seen.target.tolist() == [0.2, 0.6, 0.3, 0.5]


def observations(confidence, target, accepted):
    size = len(confidence)
    confidence = np.array(confidence)
    return Observations(confidence, confidence, np.array(target), np.array(accepted), np.arange(size) % 3 + 1, np.arange(size) % 2)


def test_calibration_error_by_hand():
    """Two bins of two: |0.15 - 0.2| and |0.85 - 0.65| weigh half each: 0.125."""
    found = reliability(observations([0.1, 0.2, 0.8, 0.9], [0.1, 0.3, 0.6, 0.7], [False, False, True, True]), bins=2)
    assert found.ece == pytest.approx(0.125)
    assert [b.count for b in found.bins] == [2, 2] and [b.accepted for b in found.bins] == [0, 1]
    assert found.ece_accepted == pytest.approx(0.15)
    assert found.to_json()["bins"][1]["confidence"] == pytest.approx(0.85)


def test_an_oracle_has_no_calibration_error_and_bins_are_of_equal_count():
    values = np.random.default_rng(0).random(1000)
    found = reliability(observations(values, values, values > 0.5))
    assert found.ece == pytest.approx(0, abs=1e-12) and len(found.bins) == 15
    assert {b.count for b in found.bins} == {66, 67} and sum(b.count for b in found.bins) == found.count == 1000


@given(st.lists(st.floats(0, 1), max_size=60), st.integers(1, 12))
def test_each_observation_is_in_the_stretch_of_its_confidence(values, bins):
    """Counted by hand, stretch by stretch; the last one takes confidence 1."""
    found = bins_of_equal_width(observations(values, values, np.array(values) > 0.5), bins)
    for number in range(bins):
        inside = [value for value in values if int(value * bins) == number or (value == 1 and number == bins - 1)]
        middle = (number + 0.5) / bins
        assert (middle in found) == bool(inside)
        if inside:
            assert found[middle].count == len(inside) and found[middle].confidence == pytest.approx(np.mean(inside))


def test_outcomes_drawn_from_the_confidences_look_calibrated():
    rng = np.random.default_rng(1)
    values = rng.random(6000)
    found = reliability(observations(values, values, rng.random(6000) < values))
    assert found.ece_accepted < 0.03
    assert sum(b.low <= b.confidence <= b.high for b in found.bins) >= 13


def test_wilson_interval_matches_the_published_value():
    """8 of 10: 0.490 to 0.943 (Wilson 1927, 95 %)."""
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0) and wilson(0, 10)[0] == 0 and wilson(10, 10)[1] == 1


def test_groups_partition_the_observations():
    seen = observations([0.1, 0.2, 0.8, 0.9], [0.1, 0.3, 0.6, 0.7], [False, False, True, True])
    assert [(g.key, g.count) for g in by_depth(seen)] == [(1, 2), (2, 1), (3, 1)]
    assert [(g.key, g.count, g.accepted) for g in by_rank(seen)] == [(0, 2, 0.5), (1, 2, 0.5)]
    assert len(Observations.join([seen, seen])) == 8
    with pytest.raises(ValueError, match="none given"):
        Observations.join([])


def test_both_readings_of_a_drafted_node_are_observed():
    """Of a tree drafted in the greedy reading, `confidence` is the drafter's own and `chance` what the calibration makes of it."""
    calibration = GreedyCalibration((2.0,), 1.0, 0.0)
    row = Candidates(np.array([5, 6]), np.array([0.6, 0.2]), np.array([0.7, 0.1]))
    read = GreedyLandscape(RecordedLandscape({(): row}), calibration)
    tree = draft_up_to(BestFirst(max_depth=1), read, 2)[0].tree
    seen = observe(read, tree, Verdict((1,), 9))
    assert seen.confidence.tolist() == [0.6, 0.2] and seen.target.tolist() == [0.7, 0.1]
    assert seen.chance.tolist() == calibration(row.confidences, 1).tolist()
    assert sampled_value(read, tree) == pytest.approx(0.8)


def test_the_interval_of_a_mean_counts_clusters_not_values():
    """Values that repeat within their cluster carry no more than one of each; single values give the usual standard error."""
    values = [0.0, 1.0, 1.0, 3.0]
    mean, low, high = clustered_mean(values, range(4))
    assert mean == 1.25 and high - mean == pytest.approx(1.96 * np.std(values, ddof=1) / 2) == pytest.approx(mean - low)
    repeated = clustered_mean(np.repeat(values, 5), np.repeat(range(4), 5))
    assert repeated == pytest.approx((mean, low, high))
    assert clustered_mean([1.0, 2.0], ["a", "a"]) == (1.5, 1.5, 1.5)
