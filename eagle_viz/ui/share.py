"""Take it with you: the tree as engine flags, as an embedded page, as files."""

from __future__ import annotations

from html import escape
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from ..core.engine_flags import engine_flags
from . import chrome, opened, session, world
from .files import files, keep
from .presets import changes_by_name
from .settings import Settings, to_query

EMBED_HIDES = "header,settings,intro,charts"


TITLE = "Take it with you: engine flags, embedding, GraphML, and opening a file"


@st.fragment(key="share")
def panel() -> None:
    """A drawer below the charts; runs alone when it is opened."""
    settings = session.current()
    with st.container(key="share-drawer"):
        pulled = settings.source == "file" or bool(opened.on_stage(settings))  # so that a second file can follow
        chrome.drawer(TITLE, "share_open", lambda: _inside(settings), pulled=pulled)


def _inside(settings: Settings) -> None:
    st.html('<p class="quiet">Link, SVG, PNG, JSON, CSV and an offline player are in the stage\'s own menu, Share.</p>')
    flags, embed, files = st.columns([1.5, 1.5, 1], gap="medium")
    with flags:
        _flags(settings)
    with embed:
        _embed(settings)
    with files:
        _files(settings)


def _flags(settings: Settings) -> None:
    st.html("<h3>This tree in an engine</h3>")
    with chrome.in_one_sentence():
        _, dynamic = world.sides(settings)
        setting = dynamic.policy().engine_setting(settings.budget)
        if setting is None:
            remedy = "Choose EAGLE-2 or a chain for the blue tree to get its flags."
            st.html(f'<p class="quiet">No engine builds this tree. {remedy}</p>')
            return
        for flags in engine_flags(*setting):
            change = f" <b>{escape(flags.change)}</b>" if flags.change else ""
            st.html(f'<p class="quiet"><b>{flags.engine}</b>: {escape(flags.counting)}.{change}</p>')
            st.code(flags.text, language=None, wrap_lines=True)


def embed_code(address: str, settings: Settings) -> str:
    """The iframe that shows these settings, without the page's frame."""
    query = {"embed": "true"} | to_query(settings.but(hide=EMBED_HIDES, tour=0), changes_by_name())
    source = urlunsplit((*urlsplit(address)[:3], urlencode(query), ""))
    return f'<iframe src="{escape(source)}" width="100%" height="800" style="border:0" title="Draft tree lab"></iframe>'


def _embed(settings: Settings) -> None:
    st.html("<h3>This picture in a post</h3>")
    st.code(embed_code(st.context.url or "http://localhost:8501/", settings), language=None, wrap_lines=True)
    st.html(
        '<p class="quiet"><b>hide</b> takes any of header, settings, intro, charts, notes; '
        "<b>embed_options</b> takes dark_theme or light_theme.</p>"
    )


def _files(settings: Settings) -> None:
    st.html("<h3>GraphML</h3>")
    with chrome.in_one_sentence():
        _downloads(settings)
    _upload()


def _downloads(settings: Settings) -> None:
    key = world.LandscapeKey.of(settings)
    for name, side in zip(("static", "dynamic"), world.sides(settings), strict=True):
        st.download_button(
            f"{side.title}, {settings.budget} nodes",
            data=lambda side=side: _graphml(key, side, settings.budget),
            file_name=f"{name}-tree.graphml",
            mime="application/xml",
            key=f"graphml_{name}",
            on_click="ignore",
        )


def _upload() -> None:
    st.html("<h3>Open a file</h3>")
    st.html(
        "<p class='quiet'>Trees from the stage's JSON button, a node list such as EAGLE's choices, a recording of your own "
        "(.npz), or your engine's acceptance numbers: vLLM, SGLang, AIPerf, TensorRT-LLM, llama.cpp, EAGLE. It stays in this "
        "session.</p>"
    )
    st.file_uploader(
        "Trees, a recording, or acceptance numbers of an engine",
        key="upload",
        label_visibility="collapsed",
        max_upload_size=opened.MAX_BYTES // 2**20,
        on_change=take_file,
    )
    if files().error:
        chrome.say(files().error)


def take_file() -> None:
    """Put what a chosen file holds on the stage, or say why not (callback)."""
    file = st.session_state["upload"]
    keep(error="")
    if file is None:
        return session.acted()
    try:
        opened.show(file.name, file.getvalue())
    except ValueError as error:
        keep(error=str(error))
        session.acted()


def _graphml(key: world.LandscapeKey, side: world.PolicyKey, budget: int) -> str:
    from ..view.graphml import graphml  # networkx is only loaded when somebody asks for the file

    return graphml(world.draft(key, side, budget).tree, world.landscape(key).token_text)
