"""What the shipped head looks at: it copies a text that repeats itself, and it needs the text before its last row for that."""

import pytest
import torch

from eagle_viz.commands.model import HEAD
from eagle_viz.core.policies import Chain, Eagle2
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.fetch import default_target_path
from eagle_viz.engine.generation import generate
from eagle_viz.engine.head import Head
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target

pytestmark = pytest.mark.real
SENTENCE = "The quick brown fox jumps over the lazy dog, and the slow green turtle sleeps under the old stone bridge.\n"
QUESTIONS = ("Why is the sky blue? Answer in a few sentences.", "Write a short rhyming poem about autumn rain.")


class NearSighted(Head):
    """The same head, each row of which sees of the text only itself, or the text's last row from within the tree."""

    def forward(self, tokens, states, mask=None, position_ids=None, cache=None):
        rows, before = len(tokens), cache.length
        if mask is None:
            seen = torch.arange(before + rows) == torch.arange(before, before + rows)[:, None]
        else:
            text = before + rows - mask.shape[1]
            seen = torch.cat([(torch.arange(text) == text - 1).expand(rows, -1), mask], dim=1)
        return super().forward(tokens, states, seen, position_ids, cache)


def mean_written(target, head, prompt):
    """tau of 64 greedy tokens, EAGLE-2 with 59 nodes."""
    run = generate(target, HeadDrafter(head), prompt, {"eagle2": (Eagle2(), 59)}, Settings(max_new_tokens=64))
    written = [cycle.written["eagle2"] for cycle in run]
    return sum(written) / len(written)


@pytest.fixture(scope="module")
def target():
    return Target.load(default_target_path())


@pytest.fixture(scope="module")
def heads(target):
    return Head.load(HEAD, target), NearSighted.load(HEAD, target)


def test_a_text_that_repeats_itself_is_copied(target, heads):
    """A sentence six times over: more than two and a half tokens a pass; four are aimed at (the model card)."""
    assert mean_written(target, heads[0], target.encode_raw(6 * SENTENCE)) > 2.5


def test_the_text_before_the_last_row_is_read(target, heads):
    """Without it a tenth of the tokens a pass is lost at least, on texts of any kind."""
    for prompt in (target.encode_raw(6 * SENTENCE), *map(target.encode_chat, QUESTIONS)):
        whole, near = (mean_written(target, head, prompt) for head in heads)
        assert near < 0.9 * whole


def test_a_chain_of_240_levels_stays_finite(target, heads):
    """Every confidence of a chain far deeper than any training is a probability."""
    prompt = target.encode_chat(QUESTIONS[0])
    run = generate(target, HeadDrafter(heads[0]), prompt, {"chain": (Chain(), 240)}, Settings(max_new_tokens=4))
    confidences = next(iter(run)).drafts["chain"].tree.confidences
    assert len(confidences) == 241 and ((confidences > 0) & (confidences <= 1)).all()
