"""Where the page and the models lie: beside the package in the repository, inside it once it is installed."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def root() -> Path:
    """The folder that holds `app.py`, `.streamlit/` and `models/`.

    An installed package carries its copies in `eagle_viz/installed/`; in the repository that folder does not exist.
    """
    installed = _PACKAGE / "installed"
    return installed if installed.is_dir() else _PACKAGE.parent


def models() -> Path:
    """The folder of heads and recordings."""
    return root() / "models"
