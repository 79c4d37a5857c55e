"""One palette: its colours can be read, and the configuration, which cannot import it, repeats it exactly."""

import re
import tomllib
from dataclasses import asdict
from pathlib import Path

import pytest

from eagle_viz.view.palette import DARK, LIGHT

ROOT = Path(__file__).parents[2]
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("name", ["ink", "quiet", "gray", "blue"])
def test_text_has_a_contrast_of_four_and_a_half_on_both_grounds(theme, name):
    """WCAG's formula, on the paper and on panels."""
    for ground in (theme.paper, theme.wash):
        dark, light = sorted(map(luminance, (getattr(theme, name), ground)))
        assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize(("section", "theme"), [("light", LIGHT), ("dark", DARK)])
def test_the_configuration_repeats_the_palette(section, theme):
    """Streamlit reads its theme from a file of its own."""
    found, own = CONFIG[section], asdict(theme)
    pairs = {"backgroundColor": "paper", "secondaryBackgroundColor": "wash", "textColor": "ink", "borderColor": "line"}
    pairs |= {"grayColor": "gray", "blueColor": "blue", "primaryColor": "blue"}
    assert {key: found[key] for key in pairs} == {key: own[name] for key, name in pairs.items()}


SOURCES = [path for path in (ROOT / "eagle_viz").rglob("*") if path.suffix in {".py", ".css", ".js", ".html"}]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_colour_and_no_size_of_text_is_defined_twice(path):
    """A literal colour stands in the palette alone, and style sheets take every size of text from the type scale."""
    text = path.read_text(encoding="utf-8")
    colours = [] if path.name == "palette.py" else re.findall(r"""(?<![&\w])#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})(?=["';, )])""", text)
    assert colours == [] and (path.suffix != ".css" or re.findall(r"font-size: *[\d.]+px", text) == [])
