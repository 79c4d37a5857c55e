"""Budget & speed on one short recording, so that simulating every setting takes a second."""

import pytest

from eagle_viz.ui import library
from tests.ui.pages import opened

SHORT = "smollm2-135m-eagle3-fact"


@pytest.fixture
def speed_page(monkeypatch):
    """Opens the view at these settings; only the chosen recording counts."""
    monkeypatch.setattr(library, "same_drafter", lambda name: (name,))
    return lambda **query: opened(drawn=False, **({"view": "speed", "recording": SHORT} | query))
