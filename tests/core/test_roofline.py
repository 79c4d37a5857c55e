"""Estimated pass times against the formula by hand."""

import pytest

from eagle_viz.core.cost import parse_times
from eagle_viz.core.roofline import ACCELERATORS, DRAFT_SHARE, roofline


@pytest.mark.parametrize("name", ACCELERATORS)
@pytest.mark.parametrize("size", [1, 7, 60, 128 * 32])
def test_a_pass_reads_or_computes_whichever_takes_longer(name, size):
    """overhead + max(bytes / bandwidth, 2 * parameters * positions / peak), to the rounding of the size where they meet."""
    chip, billions = ACCELERATORS[name], 8.0
    reading, computing = 16e9 / (chip.bandwidth * 1e9), 2 * 8e9 * size / (chip.peak * 1e12)
    made = roofline(chip, billions)
    assert float(made.verify(size)) == pytest.approx(1 + 1e3 * max(reading, computing), rel=0.01)
    assert made.draft_ms == pytest.approx(DRAFT_SHARE * float(made.verify(1)))


def test_an_estimate_says_so_and_names_its_source():
    """Title and source of every preset; the written times read back as the same times."""
    for chip in ACCELERATORS.values():
        made = roofline(chip)
        assert (
            "estimated" in made.title
            and chip.name in made.title
            and "data sheet" in chip.source + "data sheet" * ("white paper" in chip.source)
        )
        assert parse_times("again", made.text).verify_ms == pytest.approx(made.verify_ms, rel=1e-5)


@pytest.mark.parametrize("field,value", [("billions", 0), ("bytes_each", 100), ("overhead_ms", -1), ("billions", float("nan"))])
def test_what_no_model_has_is_one_sentence(field, value):
    """The field, the value and what is allowed."""
    with pytest.raises(ValueError, match=f"{field}: .* given, allowed is"):
        roofline(ACCELERATORS["h100"], **{field: value})
