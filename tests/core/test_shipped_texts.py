"""Every token that a shipped recording may show has its text."""

import pytest

from eagle_viz.core.recording import read, shipped
from eagle_viz.core.tree import NO_TOKEN


@pytest.mark.parametrize("name", shipped())
def test_every_token_the_target_says_has_a_text(name):
    """The continuations and each bonus, also outside the drafter's candidates: no sentence on the page falls back to a number."""
    found = read(shipped()[name])
    said = {token for cycle in found.cycles for token in (*cycle.continuation, *(one.bonus for one in cycle.verdicts))}
    assert said - {NO_TOKEN} <= found.texts.keys()
