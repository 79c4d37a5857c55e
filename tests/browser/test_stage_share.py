"""Everything the stage gives away is opened and read back."""

from __future__ import annotations

import csv
import io
import json
import struct
import xml.etree.ElementTree as ElementTree

import pytest

from eagle_viz import POLICIES, SyntheticLandscape, compare
from eagle_viz.core.documents import comparison_trees
from eagle_viz.stage.player import player_html
from eagle_viz.stage.trace import build_trace
from tests.browser.stage_reading import drag_to, inside, outside, part, read

SVG = "{http://www.w3.org/2000/svg}"
EAGLE2 = POLICIES["eagle2"](max_depth=12)


@pytest.fixture
def pair():
    return compare(SyntheticLandscape(seed=11), 25, "eagle1", EAGLE2)


def saved(page, testid):
    """What a click on an entry of the share menu saves: (suggested name, bytes)."""
    if not part(page, "stage-share-menu").is_visible():
        part(page, "stage-share").click()
    with page.expect_download() as waiting:
        part(page, testid).click()
    return waiting.value.suggested_filename, waiting.value.path().read_bytes()


def test_the_json_loads_back_as_the_two_trees(stage, pair):
    page = stage("budget=25")
    name, content = saved(page, "stage-save-json")
    document = json.loads(content)
    static, dynamic = comparison_trees(document)
    assert name == "seed-11-sharpness-2.5-step-25-of-25.json" and document["version"] == 1
    for tree, draft in ((static, pair.static), (dynamic, pair.dynamic)):
        assert tree.paths == draft.tree.paths and tree.values.tolist() == draft.tree.values.tolist()
    assert document["gain"] == pair.gain and document["dynamic"]["expected_accepted"] == pair.dynamic.tree.expected_accepted


def test_the_csv_has_a_version_and_a_row_for_each_node(drawn, pair):
    page = drawn(step=9)
    rows = list(csv.DictReader(io.StringIO(saved(page, "stage-save-csv")[1].decode())))
    assert len(rows) == 18 and {row["version"] for row in rows} == {"1"} and {row["tree"] for row in rows} == {"static", "dynamic"}
    kept = [tuple(map(int, row["path"].split("."))) for row in rows if row["tree"] == "dynamic"]
    assert kept == list(pair.dynamic.order[:9])
    tree = pair.dynamic.tree
    assert [float(row["value"]) for row in rows[9:]] == [tree.values[tree.index[path]] for path in kept]


def test_the_svg_stands_alone_and_shows_what_the_stage_shows(drawn):
    page = drawn()
    seen = read(page)
    picture = ElementTree.fromstring(saved(page, "stage-save-svg")[1])
    texts = [text.text for text in picture.iter(f"{SVG}text") if text.text]
    assert any("3.46 expected tokens accepted per pass" in text for text in texts) and any("(+19%)" in text for text in texts)
    ground, legend = 1, 3
    assert len(list(picture.iter(f"{SVG}rect"))) == ground + legend + len(seen["static"]) + len(seen["dynamic"])
    assert all("var(" not in value for element in picture.iter() for value in element.attrib.values())
    assert not [element for element in picture.iter() if "href" in "".join(element.attrib)]


def test_the_png_is_twice_the_size_of_the_picture_and_not_blank(drawn):
    page = drawn()
    _, content = saved(page, "stage-save-png")
    width, height = struct.unpack(">II", content[16:24])
    box = page.locator("svg.tree").first.bounding_box()
    assert (width, height) == (2 * (2 * round(box["width"]) + 24), 2 * (round(box["height"]) + 22 + 64 + 30))
    assert content[:8] == b"\x89PNG\r\n\x1a\n" and len(content) > 20_000


def test_the_link_is_copied(stage):
    page = stage("budget=25&seed=12", permissions=["clipboard-read", "clipboard-write"])
    part(page, "stage-share").click()
    part(page, "stage-copy-link").click()
    page.get_by_text("Link copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url and "seed=12" in page.url


def check_player(page, budget):
    page.wait_for_selector("[data-tree]", state="attached")
    assert len(read(page)["dynamic"]) == budget
    part(page, "stage-back").click()
    assert len(read(page)["dynamic"]) == len(read(page)["static"]) == budget - 1
    assert len(drag_to(page, "stage-budget", 12)["static"]) == 12
    part(page, "stage-mode-verify").click()
    part(page, "stage-next").click()
    assert "roll 1 of 1000" in read(page)["phase"]
    assert page.errors == [] and [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_the_player_saved_in_the_browser_works_offline_and_knows_the_step(stage, open_page, tmp_path):
    page = stage("budget=25&step=20")
    name, content = saved(page, "stage-save-player")
    (tmp_path / name).write_bytes(content)
    player = open_page((tmp_path / name).as_uri(), offline=True)
    player.wait_for_selector("[data-tree]", state="attached")
    assert read(player)["dynamic"].keys() == read(page)["dynamic"].keys() and read(player)["expected"] == read(page)["expected"]
    check_player(player, 20)
    assert outside(page) == []


def test_the_player_written_by_python_works_offline(open_page, tmp_path):
    trace = build_trace(SyntheticLandscape(seed=11), POLICIES["eagle1"](), EAGLE2, tier=64, label="</script><b>hostile</b>")
    (tmp_path / "player.html").write_text(player_html(trace, budget=40), encoding="utf-8")
    player = open_page((tmp_path / "player.html").as_uri(), offline=True, width=390, height=844)
    check_player(player, 40)
    assert inside(player, "return document.documentElement.scrollWidth") <= 390 and player.title() == "</script><b>hostile</b>"


def test_a_player_refuses_what_its_trace_does_not_serve():
    trace = build_trace(SyntheticLandscape(seed=11), POLICIES["chain"](), EAGLE2, tier=32)
    for wrong, field in (({"budget": 33}, "budget"), ({"budget": 5, "step": 6}, "step"), ({"mode": "x"}, "mode")):
        with pytest.raises(ValueError, match=f"{field}: "):
            player_html(trace, **wrong)
