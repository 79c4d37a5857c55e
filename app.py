"""The page: settings, session, panels. Run it with ``streamlit run app.py``."""

import streamlit as st

from eagle_viz.ui import chrome, lab, session, text, tour

st.set_page_config(page_title="Draft tree lab", page_icon="🌳", layout="wide", initial_sidebar_state="collapsed")
settings = session.begin()
chrome.style()
chrome.header(settings)
chrome.notes(settings)
tour.panel(settings)
{"lab": lab.panel, "text": text.panel}[settings.view](settings)
session.finish()
