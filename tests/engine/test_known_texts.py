"""Contexts along a known text are those that decoding met, and what is simulated there is what verification accepted."""

import numpy as np
import pytest

from eagle_viz.core.curves import Setting
from eagle_viz.core.policies import Chain, Eagle2
from eagle_viz.core.simulation import outcomes, tally
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.generation import Generation
from eagle_viz.engine.head import Head
from eagle_viz.engine.known_texts import LEADER, LEADER_BUDGET, KnownText, contexts_along
from eagle_viz.engine.sampling import Settings

PROMPT = (2, 9, 14, 33, 3)
CONTEST = {"leader": (LEADER, LEADER_BUDGET), "chain": (Chain(), 3), "narrow": (Eagle2(top_k=3, max_depth=4), 9)}


@pytest.fixture(scope="module")
def decoded(tiny_target):
    """A head, and a greedy answer decoded by the leader with two policies beside it."""
    drafter = HeadDrafter(Head.random(tiny_target, draft_vocabulary=64))
    run = Generation(tiny_target, drafter, PROMPT, CONTEST, Settings(24))
    cycles = list(run)
    return drafter, KnownText("one", "text", PROMPT, tuple(run.tokens)), cycles, run


def test_the_roots_are_those_of_a_generation(tiny_target, decoded):
    """Each pass starts where the one before has ended."""
    drafter, text, cycles, _ = decoded
    assert [one.position for one in contexts_along(tiny_target, drafter, text)] == [one.position for one in cycles]


def test_simulated_tau_is_what_verification_measured_on_the_same_contexts(tiny_target, decoded):
    """tau of each policy of the contest, number for number, without a verify pass."""
    drafter, text, cycles, run = decoded
    rows = {
        one.setting: one for one in outcomes(tally((("text", c) for c in contexts_along(tiny_target, drafter, text)), exact=False))
    }
    wanted = {
        "leader": Setting("eagle2", LEADER_BUDGET, 6, 10, False),
        "chain": Setting("chain", 3),
        "narrow": Setting("eagle2", 9, 4, 3, False),
    }
    for name, setting in wanted.items():
        assert rows[setting].tau == pytest.approx(run.tau(name))
        assert rows[setting].passes == pytest.approx(np.mean([one.drafts[name].passes for one in cycles]))


@pytest.mark.parametrize("change,said", [({"answer": (5,)}, "answer: 1 tokens"), ({"prompt": ()}, "prompt: none given")])
def test_what_is_no_text_is_one_sentence(change, said):
    """An answer of one token has no pass, and an empty prompt no first token."""
    with pytest.raises(ValueError, match=said):
        KnownText(**({"name": "x", "kind": "text", "prompt": (2,), "answer": (5, 6)} | change))
