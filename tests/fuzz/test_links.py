"""Links and open files on the page itself: whatever a stranger writes, no view ends in an exception."""

import json

import hypothesis
import pytest
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from eagle_viz.core import recording
from eagle_viz.core.cost import parse_times
from eagle_viz.ui.presets import PRESETS, changes_by_name
from eagle_viz.ui.settings import PROPERTIES, VIEWS, Settings, parse, to_query
from eagle_viz.ui.world import parse_levels
from tests.fuzz.strategies import check_sentence, damaged, examples
from tests.fuzz.test_files import NUMBERS, TEXTS, TREES, altered, as_bytes
from tests.imports.test_formats import VLLM_METRICS
from tests.ui.pages import APP, painted

pytestmark = pytest.mark.fuzz

ORACLE = recording.shipped()["oracle-fact"].read_bytes()
TIMES = st.text("0123456789:. -e,draftplin", max_size=40).map("1:10 2:20 ".__add__) | st.just("1:10 2:20")
LEVELS = st.text("0123456789./ -e,", max_size=60)
SHAPES = st.text("[](), 0123", max_size=40)
HOSTILE = st.sampled_from(
    ["", "nan", "-inf", "1e999", "0x10", "<script>", "-5", "9" * 30, "٣", "a" * 5000, "\x00", "1e5", "-0", "3.7"]
)


def values(row):
    """What a link may say for one setting: what it allows, what it does not, and texts of its own grammar."""
    if row.name in ("times", "levels", "shape"):
        return {"times": TIMES, "levels": LEVELS, "shape": SHAPES}[row.name] | HOSTILE | st.text(max_size=20)
    if row.kind is str:
        known = st.sampled_from(row.choices) if row.choices else st.sampled_from(["oracle-fact", "fact", *PRESETS])
        return known | HOSTILE | st.text(max_size=20)
    inside = st.integers(int(row.low), int(row.high)) if row.kind is int else st.floats(row.low, row.high)
    return inside.map(str) | st.floats().map(str) | st.integers().map(str) | HOSTILE


LINKS = st.fixed_dictionaries({}, optional={name: values(row) for name, row in PROPERTIES.items()}).flatmap(
    lambda link: st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=1).map(lambda more: more | link)
)


@hypothesis.given(LINKS)
def test_any_link_is_settings_and_sentences(link):
    """`parse` never raises, its notes are sentences, and the settings it finds open again without a word."""
    found, notes = parse(link, changes_by_name())
    assert isinstance(found, Settings)
    for note in notes:
        check_sentence(ValueError(note))
    again, words = parse(to_query(found, changes_by_name()), changes_by_name())
    assert again == found and words == []


@hypothesis.given(TIMES | st.text(max_size=60), LEVELS | st.text(max_size=60))
def test_any_text_is_times_and_levels_or_a_sentence(times, levels):
    """Both grammars that people write by hand."""
    for read, text in ((lambda text: parse_times("mine", text), times), (parse_levels, levels)):
        try:
            read(text)
        except ValueError as error:
            check_sentence(error)


def page(link):
    app = AppTest.from_file(APP, default_timeout=300)
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, (link, [error.message for error in app.exception])
    return painted(app)


PAGES = st.tuples(st.sampled_from(list(VIEWS)), LINKS, st.sampled_from([32, 128])).map(
    lambda made: {name: value for name, value in made[1].items() if value} | {"view": made[0]}
)


@examples(0.1)
@hypothesis.given(PAGES)
def test_any_link_opens_a_page(link):
    """The page itself, in every view, on every source."""
    page(link)


FILES = (
    altered(TREES).map(as_bytes)
    | st.sampled_from(NUMBERS).flatmap(lambda one: altered(one).map(as_bytes))
    | st.sampled_from(TEXTS).flatmap(lambda one: damaged(one.encode()))
    | st.sampled_from([VLLM_METRICS.encode(), ORACLE, json.dumps(TREES).encode(), b"[[0],[0,0],[1]]", b""])
    | damaged(ORACLE)
    | st.binary(max_size=60)
)


@examples(0.05)
@hypothesis.given(FILES, st.sampled_from(list(VIEWS)), st.integers(1, 128))
def test_any_file_opened_on_the_page(content, view, budget):
    """Dropped, then looked at in any view at any budget: no view ends in an exception."""
    app = page({"budget": str(budget)})
    app.session_state["share_open"] = True
    app.run()
    app.file_uploader(key="upload").set_value(("file", content, "application/octet-stream")).run()
    assert not app.exception, [error.message for error in app.exception]
    app.segmented_control(key="set_view").set_value(view).run()
    assert not app.exception, (view, [error.message for error in app.exception])
