"""The whole page without a browser, for tests: opened with a query, and told what a browser would have answered."""

from dataclasses import replace
from html import unescape
from pathlib import Path

from streamlit.testing.v1 import AppTest

APP = str(Path(__file__).parents[2] / "app.py")


def opened(drawn=True, state=None, **query):
    """The page after its first run; ``drawn``: as a browser shows it that has painted the trees, so that the charts are there."""
    app = AppTest.from_file(APP, default_timeout=120)
    for key, value in (state or {}).items():
        app.session_state[key] = value
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return painted(app) if drawn else app


def painted(app):
    """The page after its browser has answered that the trees are painted."""
    page = app.session_state["page"]
    app.session_state["page"] = replace(page, painted=page.revision)
    app.run()
    assert not app.exception
    return app


def settings_of(app):
    """The settings of the page as it is."""
    return app.session_state["page"].settings


def said(app):
    """Everything that the page says in HTML."""
    return unescape("".join(html.proto.body for html in app.get("html")))
