"""In a notebook a comparison shows itself: the offline player in a frame, with the trees that were compared."""

import html
import json
import re

from eagle_viz import POLICIES, RankLandscape, SyntheticLandscape, compare
from eagle_viz.core.readout import compare as core_compare


def shown(pair) -> str:
    """The page inside the frame."""
    (page,) = re.fullmatch(r'<iframe srcdoc="([^"]*)" .*</iframe>', pair._repr_html_(), re.DOTALL).groups()
    return html.unescape(page)


def test_the_frame_holds_the_compared_trees():
    land, dynamic = SyntheticLandscape(seed=7, sharpness=2.5), POLICIES["eagle2"](top_k=4, max_depth=5)
    pair = compare(land, budget=12, static="chain", dynamic=dynamic)
    page = shown(pair)
    for path in pair.dynamic.tree.paths[1:]:
        assert json.dumps(".".join(map(str, path))) in page
    assert "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page


def test_the_comparison_is_the_cores():
    land = RankLandscape([0.5, 0.25, 0.125, 0.0625])
    ours, cores = compare(land, 15, "chain", "best_first"), core_compare(land, 15, "chain", "best_first")
    assert ours.gain == cores.gain and ours.dynamic.tree.paths == cores.dynamic.tree.paths
