"""Where the page's state is kept while it is open: the URL becomes settings, every change comes in by ``act``, and goes back out
into the URL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from .page import WHOLE, Origin, Page, Refusal, frame, touched
from .presets import changes_by_name
from .settings import PROPERTIES, Settings, parse, to_query
from .stops import settings_at

_PAGE, _WIDGETS = "page", "widgets"


def begin() -> Settings:
    """Settings as the whole page begins to run. The URL counts first, and again when the page did not write it."""
    query, known = st.query_params.to_dict(), st.session_state.get(_PAGE)
    if known is None or query != known.url:
        settings, notes = _read(query)
        fresh = {"notes": tuple(notes), "url": query}
        known = Page.opened(settings, **fresh) if known is None else known.changed(settings, **fresh)
    _keep(replace(known, frame=None))
    return known.settings


def _read(query: dict[str, str]) -> tuple[Settings, list[str]]:
    """A link that names only a stop of the tour shows that stop, as if one had walked there; the page's bare address begins before
    the first node, so that one sees both trees grow.
    """
    settings, notes = parse(query, changes_by_name())
    if not query:
        return settings.but(step=0), notes
    return (settings_at(settings.tour), notes) if settings.tour and set(query) == {"tour"} else (settings, notes)


def finish() -> None:
    """The whole page has run: what stands around its fragments is known, and the link is written."""
    _keep(replace(page(), frame=frame(page())))
    write_link()


def write_link() -> None:
    """Put the settings into the URL (at the end of a run, so that a click costs one change of it)."""
    query = _link(current())
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)
    _keep(replace(page(), url=query))


def _link(settings: Settings) -> dict[str, str]:
    """The query of these settings. Where one has walked from a stop back to the page's own start, it names more than the stop."""
    query = to_query(settings, changes_by_name())
    return query if _read(query)[0] == settings else query | {"view": settings.view}


def page() -> Page:
    """The page as it is now, also inside callbacks."""
    return st.session_state[_PAGE]


def current() -> Settings:
    """The settings as they are now, also inside callbacks."""
    return page().settings


def _keep(after: Page) -> None:
    st.session_state[_PAGE] = after


def act(change: Settings | Mapping[str, object], origin: Origin = Origin.WIDGET, **own: object) -> None:
    """The one way in: take a change, or an empty one, and run again what it touches (the last act of every callback).

    ``change``: settings in place of all, or new values by name; ``own``: what else ``Page.changed`` takes. Law: the URL
    that came with the message changes nothing.
    """
    _take(page().changed(change, origin, **own))


def acted() -> None:
    """Something was done that changes no setting (callback)."""
    act({})


def painted(revision: int | None) -> None:
    """The browser has painted the trees of this revision (callback)."""
    _take(page().has_painted(revision))


def _take(after: Page) -> None:
    drop_stale_url()
    before = page()
    _keep(after)
    parts = touched(before, after)
    if parts == WHOLE:
        st.rerun()
    if parts:
        st.rerun(list(parts))


def drop_stale_url() -> None:
    """Put back the URL that the page wrote: the one that came with a message of a widget is not news.

    A click sent before the browser heard of the last change of the URL carries the one before, which would undo that change.
    """
    if page().url != st.query_params.to_dict():
        st.query_params.from_dict(page().url)


def amend(*notes: str, **changes: object) -> Settings:
    """Complete the settings during a run (what a link left open), with sentences about it; those there are stay."""
    _keep(page().changed(changes, notes=(*page().notes, *notes), frame=page().frame))
    return current()


def nothing_to_paint() -> None:
    """There are no trees for these settings (during a run): nothing waits for them."""
    if not page().standing:
        _keep(page().has_painted(page().revision))
        if page().frame is not None:
            st.rerun()


def own(key: str) -> dict[str, object]:
    """``key`` and ``on_change`` for a widget that keeps its value for itself."""
    return {"key": key, "on_change": acted}


def widget(name: str, value: object, clean: Callable[[object], object], take: Callable[[object], None]) -> dict[str, object]:
    """``key`` and ``on_change`` for a widget that shows ``value`` now; ``take`` gets what a user says with it, made ``clean``.

    A widget that says what it said before, because it was taken down or replaced, changes nothing.
    """
    key, known = _key(name, value), _said(name)

    def said() -> None:
        now = clean(st.session_state[key])
        if known[key] == now:
            return acted()
        known[key] = now
        return take(now)

    return {"key": key, "on_change": said}


def bind(name: str, also: Callable[[object], dict[str, object]] | None = None) -> dict[str, object]:
    """``widget`` for the setting ``name``; ``also`` gives further changes that follow from the new value."""
    take = lambda value: act({name: value} | (also(value) if also else {}))  # noqa: E731
    return widget(name, getattr(current(), name), PROPERTIES[name].clamp, take)


def typed(name: str, check: Callable[[str], object]) -> dict[str, object]:
    """``bind`` for a text that may be mistyped: where ``check`` raises ``ValueError`` the setting stays what it was, the field
    keeps what was typed, and ``page().refused`` says why.
    """
    refused = page().refused.get(name)

    def take(text: str) -> None:
        try:
            check(text)
        except ValueError as error:
            return refuse(name, text, str(error))
        return act({name: text})

    return widget(name, refused.text if refused else getattr(current(), name), PROPERTIES[name].clamp, take)


def refuse(name: str, text: str, why: str) -> None:
    """Keep what was typed for a setting and cannot be taken (callback)."""
    act({}, refused={**page().refused, name: Refusal(text, why)})


def _key(name: str, value: object) -> str:
    """The session key of a widget: another one where it has to show what it did not say itself.

    Every message of the browser carries the values of all widgets as it knows them. Under one and the same key, a message sent
    before the browser heard of a preset's values would count as moving every widget back to where it was.
    """
    known = _said(name)
    key = next(reversed(known), f"set_{name}")
    if known.get(key, value) != value:
        key = f"set_{name}_{len(known)}"
    st.session_state[key] = known[key] = value
    return key


def _said(name: str) -> dict[str, object]:
    """What the widget of this name last showed or said, by the keys it has had, the newest last."""
    return st.session_state.setdefault(_WIDGETS, {}).setdefault(name, {})
