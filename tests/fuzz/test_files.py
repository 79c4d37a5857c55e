"""Files that people open, damaged in every way: trees, recordings, acceptance numbers, node lists. Read, or refused in words."""

import io
import json
import zipfile

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from eagle_viz import POLICIES, SyntheticLandscape, compare
from eagle_viz.core import recording
from eagle_viz.core.documents import comparison_document
from eagle_viz.core.landscape import NotRecordedError
from eagle_viz.core.policies import FixedOrder, read_choices
from eagle_viz.core.recording import Recording
from eagle_viz.core.replay import replay
from eagle_viz.core.uploaded import Uploaded
from eagle_viz.imports import check, difference, read_acceptance
from eagle_viz.ui import opened
from eagle_viz.ui.reader import reader_data
from eagle_viz.ui.verdicts import verdict_sentence
from tests.core.test_recording import recording as small_recording
from tests.fuzz.strategies import JSON, altered, check_sentence, damaged
from tests.imports import test_formats as formats

pytestmark = pytest.mark.fuzz

TREES = comparison_document(compare(SyntheticLandscape(seed=4), 8, "eagle1", "eagle2"))
NUMBERS = [value for name, value in vars(formats).items() if name.isupper() and isinstance(value, (dict, list))]
TEXTS = [value for name, value in vars(formats).items() if name.isupper() and isinstance(value, str)]


def used(found) -> None:
    """What the page does with a file that was read; a recording may lack what is asked of it, and then says so."""
    if isinstance(found, Uploaded):
        for side in (found.static, found.dynamic):
            assert len(side(found.landscape, len(side.paths)).order) == len(side.paths)
    elif isinstance(found, FixedOrder):
        assert found(SyntheticLandscape(seed=4, branching=4), 0).budget == 0
    elif isinstance(found, Recording):
        try:
            use_recording(found)
        except (ValueError, NotRecordedError) as error:
            check_sentence(error)
    else:
        assert found.levels.isascii() and opened._tau(found.found) and isinstance(opened._table(found.found), str)
        check(found.found), difference(found.found, found.found)


def use_recording(found: Recording) -> None:
    """Two trees in every cycle, their verdicts, the text with its passes, and both taus."""
    passes = [replay(cycle, POLICIES["eagle1"]()(cycle.landscape, 2).tree) for cycle in found.cycles]
    reader_data(found, passes, passes, 0, ("EAGLE-1 shape", "EAGLE-1 shape"))
    for number, cycle in enumerate(found.cycles):
        verdict_sentence(found, number, POLICIES["chain"]()(cycle.landscape, 1).tree)
    json.dumps([found.tau, found.title, found.answer, found.whole], ensure_ascii=False).encode()


def opened_or_refused(content: bytes) -> None:
    try:
        found = opened.recognise("file", content)
    except ValueError as error:
        check_sentence(error)
    else:
        used(found)


def as_bytes(document) -> bytes:
    return json.dumps(document).encode()


@hypothesis.given(altered(TREES).map(as_bytes) | damaged(as_bytes(TREES)))
def test_trees(content):
    """A comparison document with anything anywhere, or damaged bytes."""
    opened_or_refused(content)


@hypothesis.given(st.sampled_from(NUMBERS).flatmap(lambda one: altered(one).map(as_bytes) | damaged(as_bytes(one))))
def test_acceptance_numbers_in_json(content):
    """Every engine's document, altered or damaged."""
    opened_or_refused(content)


@hypothesis.given(st.sampled_from(TEXTS).flatmap(lambda one: damaged(one.encode())))
def test_acceptance_numbers_in_logs(content):
    """Every engine's metrics and log lines, damaged."""
    opened_or_refused(content)


@hypothesis.given(
    st.binary(max_size=400) | JSON.map(as_bytes) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
)
def test_anything_at_all(content):
    """No format: bytes, JSON, text."""
    opened_or_refused(content)
    try:
        read_acceptance(content)
    except ValueError as error:
        check_sentence(error)


RANKS = st.lists(st.integers(-1, 5) | JSON, max_size=4) | JSON
LISTS = st.lists(RANKS, max_size=6).map(repr) | st.text("[](), 0123=x#'\"\n-e", max_size=60)


@hypothesis.given(LISTS)
def test_node_lists(text):
    """Lists of anything, and texts of a list's characters; the page's door takes them as bytes."""
    try:
        used(read_choices(text))
    except ValueError as error:
        check_sentence(error)
    opened_or_refused(text.encode("utf-8", "replace"))


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    """A small recording's arrays, its header as JSON, and its bytes."""
    path = recording.write(small_recording(), tmp_path_factory.mktemp("recording") / "one.npz")
    with np.load(path) as archive:
        held = {name: archive[name] for name in archive.files}
    return held, json.loads(held["header"].tobytes()), path.read_bytes()


def packed(held) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **held)
    return buffer.getvalue()


@hypothesis.given(data=st.data())
def test_headers_of_recordings(arrays, data):
    """Any JSON in any place of the header."""
    held, header, _ = arrays
    text = json.dumps(data.draw(altered(header))).encode()
    opened_or_refused(packed(held | {"header": np.frombuffer(text, dtype=np.uint8)}))


DTYPES = ("uint8", "uint16", "int32", "int64", "float32", "float64", "bool", "U2")


@hypothesis.given(data=st.data())
def test_arrays_of_recordings(arrays, data):
    """One array with other numbers, another type or shape, or none at all."""
    held, _, _ = arrays
    name = data.draw(st.sampled_from(sorted(set(held) - {"header"})))
    array, kind = held[name], data.draw(st.sampled_from(["numbers", "type", "shape", "none"]))
    if kind == "numbers":
        array = array.copy()
        place = data.draw(st.integers(0, array.size - 1))
        array.flat[place] = data.draw(st.integers(np.iinfo(array.dtype).min, np.iinfo(array.dtype).max))
    elif kind == "type":
        array = array.astype(data.draw(st.sampled_from(DTYPES)))
    elif kind == "shape":
        array = data.draw(st.sampled_from([array[:1], array[None], array.ravel(), array[:0], np.concatenate([array, array])]))
    rest = {key: value for key, value in held.items() if key != name}
    opened_or_refused(packed(rest if kind == "none" else rest | {name: array}))


@hypothesis.given(data=st.data())
def test_damaged_recordings(arrays, data):
    """Bytes of the archive damaged anywhere, its entries packed or not."""
    held, _, content = arrays
    opened_or_refused(data.draw(damaged(data.draw(st.sampled_from([content, packed(held)])))))


@hypothesis.given(st.dictionaries(st.sampled_from(["header.npy", "tokens.npy", "x"]), st.binary(max_size=80), max_size=3))
def test_archives_of_anything(entries):
    """A zip with any entries."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    opened_or_refused(buffer.getvalue())
