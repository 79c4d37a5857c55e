"""Files opened on the page: told apart by content, put on the stage, kept for the session; anything else gets one sentence."""

import io
import json

import pytest

from eagle_viz.core import recording
from eagle_viz.imports import Acceptance
from eagle_viz.ui import speed, speed_map, world
from eagle_viz.ui.opened import Numbers, recognise
from tests.imports.test_formats import BENCH, VLLM_LOG, VLLM_METRICS, VLLM_RESPONSE
from tests.ui.pages import opened, painted, said, settings_of

ORACLE = recording.shipped()["oracle-fact"].read_bytes()


@pytest.fixture
def app():
    return opened()


def drop(page, name, content):
    page.session_state["share_open"] = True
    page.run()
    page.file_uploader(key="upload").set_value((name, content, "application/octet-stream")).run()
    assert not page.exception
    return said(painted(page))


def test_an_engines_file_is_a_chain_in_the_lab_with_its_summary(app):
    """/metrics of vLLM: its rates are the levels, and tau, positions and the sentence on second choices stand below the stage."""
    shown = drop(app, "metrics.txt", VLLM_METRICS.encode())
    now = settings_of(app)
    assert (now.source, now.levels, now.budget, now.static) == ("levels", "0.6094 / 0.6812 / 0.6897 / 0", 3, "chain")
    assert "tau 2.31 tokens a pass" in shown and "Nothing is known of second choices" in shown
    assert "<td>1</td><td>0.609</td>" in shown and "times plain decoding with all 3 drafted" in shown


def test_rates_above_1_are_told_and_make_no_chain(app):
    """A damaged log: 757 of one. The table and a note say so; nothing is put on the stage, and the page goes on."""
    before = settings_of(app)
    shown = drop(app, "vllm.log", VLLM_LOG.replace("0.757, 0", "0.757, 757, 0").encode())
    assert "above 1: the file counts by another formula" in shown and settings_of(app) == before
    app.run()
    assert not app.exception


def test_a_second_file_is_held_against_the_first(app):
    """Two files dropped one after the other: one sentence on their difference."""
    drop(app, "before.txt", VLLM_METRICS.encode())
    shown = drop(app, "after.json", json.dumps(VLLM_RESPONSE).encode())
    assert "Against before.txt: The second file" in shown and "more than noise" in shown


def test_a_file_without_positions_still_says_its_tau(app):
    """A benchmark line has no chain: the stage stays as it was."""
    before = settings_of(app)
    shown = drop(app, "bench.jsonl", json.dumps(BENCH).encode())
    assert settings_of(app) == before and "tau 2.12 tokens a pass" in shown


def simulated(*rows, **fields) -> bytes:
    """A file as simulate --json prints it."""
    full = {"max_depth": None, "top_k": None, "early_stop": None, "low": 1.4, "high": 1.6}
    return json.dumps({"version": 1, "contexts": 12, "rows": [full | row for row in rows]} | fields).encode()


TWO_ROWS = (
    {"policy": "chain", "budget": 4, "tau": 1.5, "passes": 4, "nodes": 4},
    {"policy": "eagle1", "budget": 25, "tau": 2.5, "passes": 5, "nodes": 25},
)


def test_a_simulation_is_priced_under_budget_and_speed(app, monkeypatch):
    """EAGLE-1's 25 nodes win at pass times that hardly grow; the cards of the recorded texts, which take long, are left out."""
    for module, name in ((speed_map, "card"), (speed, "_speed"), (speed, "_bought")):
        monkeypatch.setattr(module, name, lambda *arguments: None)
    app.query_params["times"] = "1:10 64:11 draft:0.1"
    app.run()
    drop(app, "mine.json", simulated(*TWO_ROWS))
    shown = said(app)
    assert settings_of(app).view == "speed"
    assert "2 settings over 12 contexts; the largest tau is 2.50, with eagle1" in shown
    assert "Batch 1: policy eagle1" in shown


@pytest.mark.parametrize(
    "content, sentence",
    [
        (simulated(version=2), "version: 2 given in the simulation"),
        (simulated(), "rows: none given in the simulation"),
        (simulated({"policy": "eagle9"}), "rows: row 1 has no known policy"),
        (simulated(TWO_ROWS[0] | {"tau": 0.5}), "rows: row 1 has tau 0.5, allowed is 1 or more"),
        (simulated(TWO_ROWS[0])[:-1], "is not JSON, allowed is what simulate --json printed"),
    ],
)
def test_simulations_that_are_none_get_one_sentence(content, sentence):
    with pytest.raises(ValueError) as caught:
        recognise("a.json", content)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_a_recording_of_ones_own_stands_beside_the_shipped_ones(app):
    """It is chosen, has a name of its own, and the shipped one of the same name is still there."""
    drop(app, "mine.npz", ORACLE)
    now = settings_of(app)
    assert now.source == "recording" and now.recording.startswith("oracle-fact-") and now.position == 0
    assert len(app.selectbox(key="set_recording").options) == len(recording.shipped()) + 1


def test_two_recordings_of_one_name_are_two(tmp_path):
    """The name holds a digest of the content, so that nobody sees another's text under it."""
    found = recording.read(ORACLE)
    other = recording.write(recording.Recording(**{**vars(found), "title": "Another"}), tmp_path / "other.npz").read_bytes()
    assert recognise("a.npz", ORACLE).name != recognise("a.npz", other).name
    assert recognise("a.npz", ORACLE).name == recognise("b.npz", ORACLE).name and len(recognise("a.npz", other).name) <= 64


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"hello", "no acceptance numbers found in it, allowed are vLLM"),
        (b"PK\x03\x04 broken", "is not a recording"),
        (ORACLE[:2000], "is not a recording"),
        (b'{"nodes": []}', 'Not a draft-tree file (no "version": 1)'),
        (VLLM_METRICS.replace("489.0", "0").encode(), "passes: 0 counted"),
        (b"", "no acceptance numbers"),
        (b"x = [[0, 0]]", "paths: 0.0 given without its parent"),
    ],
)
def test_anything_else_gets_one_sentence(content, words):
    """Each wrong file raises one ``ValueError`` that says what is allowed."""
    with pytest.raises(ValueError, match=".") as caught:
        recognise("x", content)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_node_list_becomes_the_static_shape(app):
    """EAGLE's choices dropped on the page: the gray tree is that shape, the budget its size, and the address holds it."""
    drop(app, "choices.py", b"mine = [[0], [0, 0], [1]]")
    now = settings_of(app)
    assert (now.shape, now.budget, now.source, now.static) == ("[[0],[0,0],[1]]", 3, "synthetic", "eagle1")
    static, dynamic = world.sides(now)
    assert static.policy().paths == ((0,), (0, 0), (1,)) and static.title == "Own shape" and dynamic.title == "EAGLE-2"


def test_a_shape_that_is_none_is_one_sentence_on_every_view():
    """A link with any text for a shape: no view ends in an exception; those that draft a static tree say what is wrong."""
    for view in ("lab", "text", "confidence", "speed", "pass"):
        page = opened(view=view, shape="[[0, 0]]")
        assert view == "confidence" or "paths: 0.0 given without its parent 0" in said(page), view


def test_a_shape_too_long_for_an_address_is_refused(app):
    """Sixty levels of a chain: 3,660 characters."""
    shown = drop(app, "long.json", str([[0] * depth for depth in range(1, 61)]).encode())
    assert "choices: 60 nodes given" in shown and settings_of(app).shape == ""


def test_a_wrong_file_leaves_the_page_as_it_was(app):
    """The sentence stands under the uploader; the settings do not change."""
    before = settings_of(app)
    shown = drop(app, "odd.bin", b"\xff\x00")
    assert "bytes that are no text" in shown and settings_of(app) == before


def test_a_long_chain_fits_into_the_address():
    """Only the first forty levels are shown, and the chain ends behind them."""
    levels = Numbers("a", Acceptance("example", "", reached=tuple(range(400, 300, -1)))).levels
    assert len(levels) <= 400 and levels.count("/") == 40 and levels.endswith("/ 0")


def test_a_broken_archive_is_no_crash():
    """A zip that is no recording is refused like any other file."""
    import zipfile

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("header.npy", b"nothing")
    with pytest.raises(ValueError, match="not a recording"):
        recognise("x.npz", archive.getvalue())
