"""The page: settings, session, panels. Run it with ``streamlit run app.py``."""

from importlib import import_module

import streamlit as st

from eagle_viz.ui import chrome, controls, session, tour

# The module of each view, loaded when the view is first opened.
PANELS = {"lab": "lab", "text": "text", "confidence": "confidence", "speed": "speed", "pass": "verify_pass"}

st.set_page_config(page_title="Draft tree lab", page_icon="🌳", layout="wide", initial_sidebar_state="collapsed")
settings = controls.resolve_recording(session.begin())
chrome.style()
chrome.header(settings)
chrome.notes(settings)
tour.panel(settings)
import_module(f"eagle_viz.ui.{PANELS[settings.view]}").panel(settings)
session.finish()
