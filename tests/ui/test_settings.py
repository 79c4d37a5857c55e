"""Settings and the URL: what is written reads back, and nothing a stranger writes breaks the page."""

import html
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_viz.ui.presets import PRESETS, changes_by_name
from eagle_viz.ui.settings import ALL_STEPS, PROPERTIES, Settings, base_of, parse, to_query
from eagle_viz.ui.share import embed_code

HOSTILE = [
    "",
    "nan",
    "-inf",
    "1e999",
    "0x10",
    "<script>alert(1)</script>",
    "-5",
    "99999999999999999999",
    "٣",
    "a" * 5000,
    "2.5; drop",
    "\x00",
]


def values(row):
    if row.kind is int:
        return st.integers(int(row.low), int(row.high))
    if row.kind is float:
        return st.floats(row.low, row.high).map(lambda value: round(value, 4))
    return st.sampled_from(row.choices) if row.choices else st.text(max_size=row.length)


def fitting(settings):
    return settings.but(step=min(settings.step, settings.budget))


ANY_SETTINGS = st.builds(
    lambda preset, changes: fitting(base_of(preset, changes_by_name()).but(preset=preset, **changes)),
    st.sampled_from(["", *PRESETS]),
    st.fixed_dictionaries({}, optional={name: values(row) for name, row in PROPERTIES.items() if name != "preset"}),
)


@given(ANY_SETTINGS)
def test_a_link_opens_the_same_settings_without_a_word(settings):
    again, notes = parse(to_query(settings, changes_by_name()), changes_by_name())
    assert (again, notes) == (settings, [])


def test_a_step_beyond_the_budget_shows_the_whole_tree_and_says_so():
    settings, notes = parse({"step": "50", "budget": "25"}, changes_by_name())
    assert (settings.step, settings.budget) == (ALL_STEPS, 25)
    assert notes == ["step: '50' given, allowed is up to the budget, 25; 25 is used."]


def test_the_default_page_has_an_empty_query_and_a_field_for_each_row():
    assert to_query(Settings()) == {}
    assert list(PROPERTIES) == list(Settings.__dataclass_fields__)


@pytest.mark.parametrize("name", PROPERTIES)
@pytest.mark.parametrize("given", HOSTILE)
def test_hostile_values_give_allowed_settings_and_one_sentence(name, given):
    settings, notes = parse({name: given}, changes_by_name())
    row = PROPERTIES[name]
    assert row.clamp(getattr(settings, name)) == getattr(settings, name)
    assert len(notes) <= 1
    if str(getattr(settings, name)) != given:
        note = notes[0] if given else (notes or [""])[0]
        assert not given or (note.startswith(f"{name}: ") and "allowed is" in note and len(note) < 400)


@given(st.dictionaries(st.text(max_size=12), st.text(max_size=60), max_size=6))
def test_any_query_at_all_is_read(query):
    settings, notes = parse(query, changes_by_name())
    assert isinstance(settings, Settings) and all(isinstance(note, str) for note in notes)


def test_numbers_are_clamped_to_the_nearer_end_and_the_note_says_what_is_used():
    settings, notes = parse({"budget": "4000", "sharpness": "-3", "static": "medusa3", "foo": "1"})
    assert (settings.budget, settings.sharpness, settings.static) == (512, 0.1, "eagle1")
    assert notes[0] == "budget: '4000' given, allowed is a whole number from 1 to 512; 512 is used."
    assert notes[1].endswith("0.1 is used.") and "best_static" in notes[2] and "not a setting" in notes[3]


def test_a_parameter_beside_a_preset_changes_it():
    settings, notes = parse({"preset": "flat", "seed": "5"}, changes_by_name())
    assert (settings.sharpness, settings.seed, notes) == (0.8, 5, [])


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_allowed_settings_with_a_sentence_to_try(preset):
    assert base_of(preset, changes_by_name()).preset == preset
    assert 40 < len(PRESETS[preset].sentence) < 400


def test_settings_outside_a_range_are_refused():
    with pytest.raises(ValueError, match="budget: 0 given, allowed is a whole number from 1 to 512"):
        Settings(budget=0)


def test_an_embedded_page_opens_the_same_picture_without_the_frame():
    settings = Settings(seed=5, budget=30)
    source = html.unescape(embed_code("http://host:1/lab?seed=9", settings).split('src="')[1].split('"')[0])
    query = dict(parse_qsl(urlsplit(source).query))
    assert query.pop("embed") == "true" and source.startswith("http://host:1/lab?")
    again, notes = parse(query, changes_by_name())
    assert again.but(hide="") == settings and notes == [] and again.hides("settings") and again.hides("charts")
