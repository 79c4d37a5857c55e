"""Pictures of drafts: tidy layout, figures, exports. Knows no engine and no streamlit."""
