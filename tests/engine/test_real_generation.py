"""The real target: speculative output is plain greedy output, and time goes where it should."""

import pytest

from eagle_viz import POLICIES
from eagle_viz.engine.drafted import HeadDrafter, OracleDrafter
from eagle_viz.engine.fetch import default_target_path
from eagle_viz.engine.generation import generate
from eagle_viz.engine.head import Head
from eagle_viz.engine.plain import check_lossless
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target

pytestmark = pytest.mark.real
PROMPTS = ("Name three rivers and say where they end.", "Write a Python function that adds two numbers.")
BOTH = {"eagle2": (POLICIES["eagle2"](), 25), "eagle1": (POLICIES["eagle1"](), 25)}


@pytest.fixture(scope="module")
def target():
    return Target.load(default_target_path())


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_heads_greedy_output_is_plain_greedy_decoding(prompt, target):
    """An untrained head: every drafted token is a trap, and none may get through."""
    run = generate(target, HeadDrafter(Head.random(target)), prompt, BOTH, Settings(16, probabilities=False))
    list(run)
    found = check_lossless(target, run.prompt, run.tokens)
    assert found.identical or found.near_tie


def test_the_oracle_is_lossless_and_its_confidences_are_kept(target):
    run = generate(target, OracleDrafter(target), PROMPTS[0], BOTH, Settings(16))
    cycles = list(run)
    found = check_lossless(target, run.prompt, run.tokens)
    assert found.identical or found.near_tie
    assert run.tau() > 2
    for cycle in cycles:
        row = cycle.landscape.expand([()])[0]
        assert row.target_probabilities.tolist() == row.confidences.tolist()


def test_the_rest_of_a_cycle_is_small(target):
    """Drafting and verifying take the time; a tenth may go elsewhere."""
    alone = {"eagle2": BOTH["eagle2"]}
    run = generate(target, HeadDrafter(Head.random(target)), PROMPTS[0], alone, Settings(16, probabilities=False))
    list(run)
    cycles = run.seconds["draft"] + run.seconds["verify"] + run.seconds["rest"]
    assert run.seconds["rest"] < 0.1 * cycles
