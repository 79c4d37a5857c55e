"""Examples in docstrings are run, in every module that loads without torch."""

import doctest
import importlib
import pkgutil

import pytest

import eagle_viz

HEAVY = ("eagle_viz.engine", "eagle_viz.training", "eagle_viz.__main__")


def modules():
    """Names of the package's modules outside the rooms that need torch."""
    found = (module.name for module in pkgutil.walk_packages(eagle_viz.__path__, "eagle_viz."))
    return [name for name in found if not name.startswith(HEAVY)]


@pytest.mark.parametrize("name", modules())
def test_an_example_shows_what_the_code_gives(name):
    """A reader who types an example gets the result that stands below it."""
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0
