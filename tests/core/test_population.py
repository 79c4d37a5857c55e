"""The vectorised population equals the policies run seed by seed."""

import numpy as np
import pytest

from eagle_viz import POLICIES, SyntheticLandscape
from eagle_viz.core.population import affordable_seeds, best_shape, eagle2_expected, population, shape_expected

SEEDS = [0, 1, 7, 61, 2**32 - 1]


@pytest.mark.parametrize("sharpness,branching,coverage", [(0.5, 4, 1.0), (2.5, 4, 1.0), (4.0, 7, 0.8)])
def test_each_seed_is_what_the_policies_give(sharpness, branching, coverage):
    lands = [SyntheticLandscape(seed, sharpness, branching, coverage) for seed in SEEDS]
    dynamic = [POLICIES["eagle2"](top_k=5, max_depth=9)(land, 31).tree.expected_accepted for land in lands]
    np.testing.assert_allclose(eagle2_expected(sharpness, 31, branching, coverage, 5, 9, SEEDS), dynamic, rtol=1e-12)
    drafts = [POLICIES["best_static"]()(land, 31) for land in lands]
    assert best_shape(31, sharpness, branching, coverage) == list(drafts[0].order)
    found = shape_expected(drafts[0].order, sharpness, branching, coverage, SEEDS)
    np.testing.assert_allclose(found, [draft.tree.expected_accepted for draft in drafts], rtol=1e-12)


def test_dynamic_wins_more_the_more_contexts_differ():
    gains = [population(sharpness, max_depth=12) for sharpness in (0.5, 1.5, 2.5, 4.0)]
    over_eagle1 = [row.gain_over_eagle1 for row in gains]
    over_static = [row.gain_over_static for row in gains]
    assert over_eagle1 == sorted(over_eagle1) and over_static == sorted(over_static)
    assert over_static[0] < 0.05 < over_static[-1]
    assert all(ours > fair > 0 for ours, fair in zip(over_eagle1, over_static, strict=True))


def test_the_largest_settings_of_the_page_get_fewer_seeds_and_the_usual_ones_all():
    assert len(affordable_seeds(25, 4, 10, 12)) == len(affordable_seeds(128, 10, 10, 12)) == 200
    assert 50 <= len(affordable_seeds(512, 10, 32, 24)) < 60
    usual, few = population(2.5), population(2.5, seeds=affordable_seeds(512, 10, 32, 24))
    assert few.gain_over_eagle1 == pytest.approx(usual.gain_over_eagle1, abs=0.08)
