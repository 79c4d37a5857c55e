"""All landscapes keep the same promises; the synthetic one is a hash, so it is checked for order, morphing and its distribution."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_viz import Candidates, NotRecordedError, RankLandscape, RecordedLandscape, SyntheticLandscape
from eagle_viz.core.hashing import node_hashes, normals, synthetic_confidences

PATHS = [(), (0,), (1,), (0, 2), (3, 1), (0, 0, 0, 0), (2, 1, 3)]


def recorded():
    rows = SyntheticLandscape(seed=3).expand(PATHS)
    return RecordedLandscape(dict(zip(PATHS, rows, strict=True)))


LANDSCAPES = [
    SyntheticLandscape(seed=7),
    SyntheticLandscape(seed=9, branching=10, coverage=0.7),
    RankLandscape([0.5, 0.2, 0.1, 0]),
    recorded(),
]


@pytest.mark.parametrize("landscape", LANDSCAPES)
def test_candidates_come_most_confident_first_and_sum_to_at_most_one(landscape):
    for candidates in landscape.expand(PATHS):
        assert (np.diff(candidates.confidences) <= 0).all()
        assert 0 <= candidates.confidences.min() and candidates.confidences.sum() <= 1 + 1e-9


@pytest.mark.parametrize("landscape", LANDSCAPES)
def test_the_order_of_asking_never_matters(landscape):
    backwards = dict(zip(PATHS[::-1], landscape.expand(PATHS[::-1]), strict=True))
    for path, candidates in zip(PATHS, landscape.expand(PATHS), strict=True):
        assert candidates.confidences.tolist() == backwards[path].confidences.tolist()
        assert landscape.expand([path])[0].confidences.tolist() == candidates.confidences.tolist()


@given(st.integers(0, 2**32 - 1), st.integers(2, 10), st.floats(0.1, 4))
def test_many_seeds_and_paths_at_once_equal_one_at_a_time(seed, branching, sharpness):
    paths = [(), (0,), (1, 1), (1, 0, 1)]
    table = synthetic_confidences([seed, 5], paths, sharpness, branching)
    alone = SyntheticLandscape(seed=seed, sharpness=sharpness, branching=branching).expand(paths)
    assert [row.confidences.tolist() for row in alone] == table[0].tolist()


def test_one_seed_keeps_its_logits_for_every_sharpness():
    """log(c_i / c_j) / sharpness is the same difference of logits whatever the sharpness: a morph, not another landscape."""
    for path in PATHS:
        gaps = []
        for sharpness in (0.5, 1.0, 2.0):
            c = SyntheticLandscape(seed=11, sharpness=sharpness).expand([path])[0].confidences
            gaps.append(np.log(c[0] / c[1:]) / sharpness)
        assert np.allclose(gaps[0], gaps[1], atol=1e-7) and np.allclose(gaps[1], gaps[2], atol=1e-7)


def test_logits_are_standard_normal_and_nodes_are_independent():
    z = normals(node_hashes(range(20_000), [(), (0,)]), 4)
    assert abs(z.mean()) < 0.01 and abs(z.std() - 1) < 0.01
    assert abs((z**4).mean() - 3) < 0.1
    columns = z.reshape(len(z), 8)
    assert np.abs(np.corrcoef(columns.T) - np.eye(8)).max() < 0.03


def test_confidences_are_pinned_so_that_every_machine_draws_the_same_landscape():
    table = synthetic_confidences(range(50), PATHS, 2.5, 4)
    digest = hashlib.sha256(np.rint(table * 2**30).astype("<i8").tobytes()).hexdigest()
    assert (table * 2**40 == np.rint(table * 2**40)).all()
    assert digest == "bd2273617b317f22dc2f2fbe4d01b78f39cd701ab70bf14f066108e082d5378a"


def test_coverage_scales_the_mass_of_the_candidates():
    whole = SyntheticLandscape(seed=2).expand([()])[0].confidences
    part = SyntheticLandscape(seed=2, coverage=0.6).expand([()])[0].confidences
    assert part == pytest.approx(whole * 0.6, abs=1e-11)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"sharpness": float("nan")}, "sharpness"),
        ({"sharpness": "high"}, "sharpness"),
        ({"branching": 0}, "branching"),
        ({"coverage": 0}, "coverage"),
    ],
)
def test_a_bad_setting_is_named_with_what_is_allowed(settings, field):
    with pytest.raises(ValueError, match=f"^{field}: .*allowed"):
        SyntheticLandscape(**settings)


@pytest.mark.parametrize("confidences", [[], [0.5, 0.6], [0.9, 0.2], [-0.1], [[0.5], []]])
def test_a_bad_rank_list_is_refused(confidences):
    with pytest.raises(ValueError, match="^confidences: "):
        RankLandscape(confidences)


def test_a_rank_landscape_may_differ_by_depth():
    landscape = RankLandscape([[0.9, 0.1], [0.6, 0.3]])
    assert [row.confidences[0] for row in landscape.expand([(), (0,), (1, 1, 0)])] == [0.9, 0.6, 0.6]


@pytest.mark.parametrize("landscape", LANDSCAPES[:3])
def test_a_path_outside_the_landscape_is_refused(landscape):
    with pytest.raises(ValueError, match="rank 12 given"):
        landscape.expand([(0, 12)])


def test_a_recording_asked_for_more_says_so():
    with pytest.raises(NotRecordedError, match="path 1.1.*smaller budget"):
        recorded().expand([(1, 1)])


def test_candidates_that_rise_are_refused():
    with pytest.raises(ValueError, match="most confident first"):
        Candidates(np.array([1, 2]), np.array([0.2, 0.3]))


def test_the_family_average_is_the_mean_over_contexts():
    landscape = SyntheticLandscape(seed=1, sharpness=1.5, branching=3)
    others = synthetic_confidences(range(3000), [(0, 1), (2,)], 1.5, 3).mean(axis=(0, 1))
    assert landscape.family_average()[0] == pytest.approx(others, abs=0.01)
