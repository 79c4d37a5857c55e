"""The page: settings, session and panels. The only importer of streamlit besides ``app.py`` and ``stage``."""
