"""Hostile input: any JSON in any place of a document, bytes damaged anywhere, and what a reader may answer to it."""

import copy

import hypothesis
from hypothesis import strategies as st

ODD = (
    0,
    -1,
    1,
    2,
    10**30,
    -(2**63),
    2**63,
    1e308,
    -0.5,
    float("nan"),
    float("inf"),
    "",
    " ",
    "0",
    "\ud800",
    "\x00",
    "x" * 300,
    "é",
)
"""Values that break what does not expect them: beyond every integer type, no number, half a character, nothing."""

JSON = st.recursive(
    st.none() | st.booleans() | st.sampled_from(ODD) | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


def examples(share: float):
    """Fewer cases for slow tests: this share of the profile's number, at least three."""
    return hypothesis.settings(max_examples=max(3, int(hypothesis.settings.default.max_examples * share)))


def places(document, here=()):
    """Every place in a JSON document, as the keys that lead there."""
    yield here
    for key, inner in document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ():
        yield from places(inner, (*here, key))


@st.composite
def altered(draw, document, most=3):
    """The document with one to three places taken out, replaced by any JSON, doubled, or given a sibling."""
    whole = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, most))):
        known = [place for place in places(whole) if place]
        if not known:
            break
        *way, last = draw(st.sampled_from(known))
        inner = whole
        for key in way:
            inner = inner[key]
        kind = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        if kind == "remove":
            del inner[last]
        elif kind == "add" and isinstance(inner, list):
            inner.insert(last, copy.deepcopy(inner[last]))
        elif kind == "add":
            inner[draw(st.text(max_size=8))] = draw(JSON)
        else:
            inner[last] = draw(JSON)
    return whole


@st.composite
def damaged(draw, content: bytes):
    """The bytes cut short, with a stretch replaced, doubled or taken out, once or twice."""
    for _ in range(draw(st.integers(1, 2))):
        first = draw(st.integers(0, len(content)))
        last = min(len(content), first + draw(st.integers(0, 40)))
        kind = draw(st.sampled_from(["cut", "replace", "double", "remove"]))
        middle = {"cut": b"", "remove": b"", "double": content[first:last] * 2}.get(kind)
        middle = draw(st.binary(max_size=12)) if middle is None else middle
        content = content[:first] + middle + (b"" if kind == "cut" else content[last:])
    return content


def check_sentence(error: Exception) -> None:
    """What a refusal may be: one line that says something, and can be sent to a page."""
    said = str(error)
    assert said.strip() and "\n" not in said and len(said) < 2000
    said.encode()
