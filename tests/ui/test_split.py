"""The sentence about where EAGLE-2's gain comes from follows the signs of the numbers beside it."""

import pytest

from eagle_viz.core.population import Population, population
from eagle_viz.ui.lab import split_of_gain


def shown(eagle1, best_static, eagle2, levels=6):
    gains = (eagle2 / eagle1 - 1, eagle2 / best_static - 1)
    return split_of_gain(Population(1.0, eagle1, best_static, eagle2, *gains, levels), top_k=10, max_depth=6)


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


def test_a_depth_cap_is_named_where_the_fixed_shape_goes_deeper():
    """At sharpness 4 six levels lose to a fixed shape without a cap; raised as the sentence says, EAGLE-2 wins."""
    here = population(4.0, max_depth=6)
    said = split_of_gain(here, top_k=10, max_depth=6)
    assert here.gain_over_static < 0 and f"6 levels deep, the fixed shape goes {here.static_levels}. Raise max_depth." in said
    assert population(4.0, max_depth=here.static_levels).gain_over_static > 0
