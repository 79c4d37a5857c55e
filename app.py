"""The page: settings, session, panels. Run it with ``streamlit run app.py``."""

import streamlit as st

from eagle_viz.ui import chrome, confidence, controls, lab, session, speed, text, tour, verify_pass

st.set_page_config(page_title="Draft tree lab", page_icon="🌳", layout="wide", initial_sidebar_state="collapsed")
settings = controls.settled(session.begin())
chrome.style()
chrome.header(settings)
chrome.notes(settings)
tour.panel(settings)
{"lab": lab.panel, "text": text.panel, "confidence": confidence.panel, "speed": speed.panel, "pass": verify_pass.panel}[
    settings.view
](settings)
session.finish()
