"""Live calibration: a drafter that is the target has no error, a random head has one."""

import json

from eagle_viz import POLICIES
from eagle_viz.engine.calibration import calibrate_live
from eagle_viz.engine.drafted import HeadDrafter, OracleDrafter
from eagle_viz.engine.head import Head
from eagle_viz.engine.prompts import Prompt

TWO = (Prompt("one", "One", "fact", "w7 w9"), Prompt("two", "Two", "list", "w50 w8 w20"))


def test_live_calibration_of_the_oracle_has_no_error(tiny_target):
    """The target as its own drafter promises exactly its own probabilities; a random head does not."""
    policy = POLICIES["eagle2"](top_k=4, max_depth=3)
    found = calibrate_live(tiny_target, OracleDrafter(tiny_target), TWO, policy, budget=8, max_new_tokens=12)
    assert found.reliability.ece < 1e-6 and found.drafter == "oracle"
    assert found.reliability.count == sum(group.count for group in found.by_depth) == sum(group.count for group in found.by_rank)
    head = calibrate_live(tiny_target, HeadDrafter(Head.random(tiny_target, draft_vocabulary=60)), TWO, policy, 8, 12)
    assert head.reliability.ece > 0.02
    json.dumps(head.to_json())
