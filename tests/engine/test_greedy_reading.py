"""A head that knows what its confidences say of greedy decoding: which reading is drafted in, and what both promise."""

from dataclasses import replace

import numpy as np
import pytest

from eagle_viz import POLICIES
from eagle_viz.core.greedy import GreedyCalibration
from eagle_viz.engine.calibration import calibrate_live
from eagle_viz.engine.drafted import HeadDrafter, OracleDrafter
from eagle_viz.engine.generation import generate
from eagle_viz.engine.head import Head
from eagle_viz.engine.prompts import Prompt
from eagle_viz.engine.sampling import Settings
from tests.engine.tiny import hf_greedy

PROMPT = [2, 17, 40, 5, 66, 1, 3]
CALIBRATION = GreedyCalibration(power=(1.5, 1.2), rest_power=0.5, rest_weight=-2.0)
CONTEST = {"eagle2": (POLICIES["eagle2"](top_k=5, max_depth=4), 12)}


@pytest.fixture
def drafter(tiny_target):
    """A random head with a calibration for greedy decoding in its config."""
    head = Head.random(tiny_target, draft_vocabulary=40)
    config = dict(head.checkpoint.config) | {"eagle_viz": {"greedy": CALIBRATION.to_json()}}
    return HeadDrafter(Head(replace(head.checkpoint, config=config), tiny_target))


def products(cycle, read):
    """The sum of path products of a cycle's tree, each confidence through `read(confidences, depth)`."""
    values = {(): 1.0}
    for path in cycle.drafts["eagle2"].tree.paths[1:]:
        row = read(cycle.landscape.candidates[path[:-1]].confidences, len(path))
        values[path] = values[path[:-1]] * row[path[-1]]
    return sum(values.values()) - 1


@pytest.mark.parametrize(
    ("settings", "read"),
    [
        (Settings(24), CALIBRATION),
        (Settings(24, reading="greedy"), CALIBRATION),
        (Settings(24, reading="sampling"), lambda row, depth: row),
        (Settings(24, temperature=1.0), lambda row, depth: row),
    ],
)
def test_expected_is_in_the_reading_that_fits_the_decoding(settings, read, tiny_target, drafter):
    """Greedy decoding expects by the calibration, sampling by the confidences as they are, unless a reading is named."""
    for cycle in generate(tiny_target, drafter, PROMPT, CONTEST, settings):
        assert cycle.drafts["eagle2"].tree.expected_accepted == pytest.approx(products(cycle, read))


def test_drafting_in_the_greedy_reading_is_lossless(tiny_target, hf_llama, drafter):
    """The answer is plain greedy decoding's, token for token."""
    run = generate(tiny_target, drafter, PROMPT, CONTEST, Settings(24))
    list(run)
    assert run.tokens == hf_greedy(hf_llama, PROMPT, 24)


def test_a_drafter_without_the_reading_is_refused(tiny_target):
    """Asking for the greedy reading of a drafter that has none is one sentence."""
    with pytest.raises(ValueError, match="reading: 'greedy' given, but oracle has no calibration for it, allowed is 'sampling'"):
        generate(tiny_target, OracleDrafter(tiny_target), PROMPT, CONTEST, Settings(8, reading="greedy"))
    with pytest.raises(ValueError, match="reading: 'best' given, allowed is sampling or greedy"):
        Settings(8, reading="best")


def test_calibration_reports_both_readings(tiny_target, drafter):
    """Drafted in the greedy reading, a report also says what the same trees promise for sampling, and both errors."""
    prompts = [Prompt("one", "One", "fact", "w7 w9")]
    policy, budget = CONTEST["eagle2"]
    greedy, sampling = (
        calibrate_live(tiny_target, drafter, prompts, policy, budget, 12, others={"chain:4": (POLICIES["chain"](), 4)}, reading=one)
        for one in (None, "sampling")
    )
    assert (greedy.reading, sampling.reading) == ("greedy", "sampling")
    assert sampling.greedy is None and sampling.expected == pytest.approx(sampling.sampled)
    cycles = list(generate(tiny_target, drafter, tiny_target.encode_chat("w7 w9"), {**CONTEST}, Settings(12)))
    assert greedy.expected == pytest.approx(np.mean([products(cycle, CALIBRATION) for cycle in cycles]))
    assert greedy.sampled == pytest.approx(np.mean([products(cycle, lambda row, depth: row) for cycle in cycles]))
    assert greedy.greedy.count == greedy.reliability.count and greedy.greedy.ece_accepted != greedy.reliability.ece_accepted
    whole = greedy.standings[0].whole
    assert (whole.expected, whole.sampled, whole.tau) == pytest.approx((greedy.expected, greedy.sampled, greedy.tau))
    assert greedy.to_json()["standings"][0]["by_kind"]["fact"]["expected"] == pytest.approx(greedy.expected)
