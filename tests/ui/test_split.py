"""The sentence about where EAGLE-2's gain comes from follows the signs of the numbers beside it."""

import pytest

from eagle_viz.core.population import Population
from eagle_viz.ui.lab import split_of_gain


def shown(eagle1, best_static, eagle2):
    return split_of_gain(Population(1.0, eagle1, best_static, eagle2, eagle2 / eagle1 - 1, eagle2 / best_static - 1), 10)


@pytest.mark.parametrize(
    "means,said",
    [
        ((3.0, 3.5, 4.0), "+14 % comes from adapting to the context; the rest of the +33 % comes from a better fixed shape."),
        ((4.0, 3.5, 4.0), "+14 % comes from adapting to the context; a better fixed shape alone adds nothing."),
        ((3.0, 4.0, 4.0), "Adapting to the context changes nothing here: the best fixed shape expects as many tokens."),
    ],
)
def test_a_gain_is_split_as_its_numbers_are(means, said):
    """Never a gain where the number shown is 0 %."""
    assert shown(*means) == said


def test_a_loss_is_said_with_its_cause():
    """Where the beam loses nodes that the fixed shape has, the sentence says so and what to raise."""
    said = shown(3.0, 4.0, 3.92)
    assert said.startswith("Adapting to the context does not pay here (-2 %") and "only 10 nodes a level" in said
    assert said.endswith("Raise top_k.")
