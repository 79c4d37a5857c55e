"""The one place where settings live while the page is open: URL -> settings -> widgets, and back into the URL."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from .presets import changes_by_name
from .settings import PROPERTIES, Settings, parse, to_query
from .stops import settings_at

_SETTINGS, _NOTES, _WRITTEN, _FOLLOW, _SERIAL = "settings", "notes", "written", "follow", "serial"
_RENEWED, _SAID = "renewed", "said"


def begin() -> Settings:
    """Settings of this run. The URL speaks first, and again when it is not what the page wrote (back button, edited link)."""
    query = st.query_params.to_dict()
    if _SETTINGS not in st.session_state or query != st.session_state[_WRITTEN]:
        settings, st.session_state[_NOTES] = _read(query)
        _put(settings)
        st.session_state[_WRITTEN] = query
        st.session_state[_FOLLOW] = st.session_state.get(_FOLLOW, 0) + 1
    return current()


def _read(query: dict[str, str]) -> tuple[Settings, list[str]]:
    """A link that names only a stop of the tour shows that stop, as if one had walked there; the page's bare address begins before
    the first node, so that one sees both trees grow.
    """
    settings, notes = parse(query, changes_by_name())
    if not query:
        return settings.but(step=0), notes
    return (settings_at(settings.tour), notes) if settings.tour and set(query) == {"tour"} else (settings, notes)


def current() -> Settings:
    """The settings as they are now, also inside callbacks."""
    return st.session_state[_SETTINGS]


def serial() -> str:
    """Revision of the settings, as text."""
    return str(st.session_state.get(_SERIAL, 0))


def ask_again() -> None:
    """Another serial for the same settings: a word of the browser about them may have been lost on the way."""
    _put(current())


def _put(settings: Settings) -> None:
    st.session_state[_SETTINGS] = settings
    st.session_state[_SERIAL] = st.session_state.get(_SERIAL, 0) + 1


def notes() -> list[str]:
    """What had to be changed in the URL that was opened, a sentence each."""
    return st.session_state[_NOTES]


def follow() -> int:
    """Rises whenever the stage must take the settings' step and budget again."""
    return st.session_state[_FOLLOW]


def finish() -> None:
    """Put the settings into the URL (at the end of a run, so that a click costs one change of it)."""
    query = _link(current())
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)
    st.session_state[_WRITTEN] = query


def _link(settings: Settings) -> dict[str, str]:
    """The query of these settings. Where one has walked from a stop back to the page's own start, it names more than the stop."""
    query = to_query(settings, changes_by_name())
    return query if _read(query)[0] == settings else query | {"view": settings.view}


def note(sentence: str) -> None:
    """Add a sentence about the link that was opened."""
    st.session_state[_NOTES] = [*notes(), sentence]


def settle(**changes: object) -> Settings:
    """Complete the settings during a run (what a link left open); the sentences about the link stay."""
    _put(current().but(**changes))
    return current()


def heed() -> None:
    """Something was done on the page (callback): the URL that came with it is not news.

    A click sent before the browser heard of the last change of the URL carries the one before, which would undo that change.
    """
    if st.session_state[_WRITTEN] != st.query_params.to_dict():
        st.query_params.from_dict(st.session_state[_WRITTEN])


def change(**changes: object) -> None:
    """Change settings from a callback; the sentences about the URL have been read by then."""
    heed()
    _put(current().but(**changes))
    st.session_state[_NOTES] = []


def restart(settings: Settings) -> None:
    """Replace all settings (a preset, a tour stop) and make the stage take them (callback)."""
    heed()
    _put(settings)
    st.session_state[_NOTES] = []
    st.session_state[_FOLLOW] += 1


def widget_key(name: str) -> str:
    """The session key of the widget of a setting; another one after each change that the widget did not make itself.

    Every message of the browser carries the values of all widgets as it knows them. Under one and the same key, a message sent
    before the browser heard of a preset's values would count as moving every widget back to where it was.
    """
    number = st.session_state.get(_RENEWED, {}).get(name, 0)
    return f"set_{name}" if number == 0 else f"set_{name}_{number}"


def show(name: str, value: object) -> str:
    """The key of a widget that shows ``value`` now: the same as before, or another one where that is not what it said itself."""
    renewed, said, key = st.session_state.setdefault(_RENEWED, {}), _said(), widget_key(name)
    if key in said and said[key] != value:
        renewed[name] = renewed.get(name, 0) + 1
        key = widget_key(name)
    st.session_state[key] = said[key] = value
    return key


def is_news(key: str, value: object) -> bool:
    """Whether a widget says something else than it last showed or said (callback); a widget taken down or replaced does not."""
    said = _said()
    told, said[key] = said[key], value
    return value != told


def _said() -> dict[str, object]:
    """By key, what each widget last showed or said."""
    return st.session_state.setdefault(_SAID, {})


def bind(name: str, also: Callable[[object], dict[str, object]] | None = None) -> dict[str, object]:
    """``key`` and ``on_change`` for the widget of setting ``name``, which shows the setting now and changes it when moved.

    ``also`` gives further changes that follow from the new value.
    """
    key = show(name, getattr(current(), name))

    def moved() -> None:
        value = PROPERTIES[name].clamp(st.session_state[key])
        if is_news(key, value):
            change(**{name: value}, **(also(value) if also else {}))

    return {"key": key, "on_change": moved}
