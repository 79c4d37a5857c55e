"""Plain decoding and the check against it: where two answers part, and by how much."""

import pytest

from eagle_viz.engine.plain import check_lossless, plain
from eagle_viz.engine.sampling import Settings

PROMPT = [2, 17, 40, 5, 66, 1, 3]


def test_a_difference_is_found_with_its_place_and_gap(tiny_target):
    """Token 3 changed: the difference is at 3, its gap that of the two largest logits there."""
    wanted, logits = zip(*plain(tiny_target, PROMPT, Settings(8)), strict=True)
    wrong = list(wanted)
    wrong[3] = (wrong[3] + 1) % 96
    found = check_lossless(tiny_target, PROMPT, wrong)
    best = logits[3].topk(2).values
    assert (found.identical, found.first_difference) == (False, 3)
    assert found.gap == pytest.approx(float(best[0] - best[1])) and not found.near_tie
