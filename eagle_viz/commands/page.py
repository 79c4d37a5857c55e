"""``lab``: the page in the browser, from a checkout or from the installed package."""

from __future__ import annotations

import argparse

from ..core.places import root


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Register ``lab``."""
    parser = commands.add_parser("lab", help="open the page in the browser (streamlit run app.py)")
    parser.add_argument("--port", type=int, default=8501, help="1 to 65535 (default 8501)")
    parser.add_argument("--address", help="listen here, 0.0.0.0 for other machines too (default: this machine alone)")
    parser.add_argument("--no-browser", action="store_true", help="serve only, do not open a browser window")
    parser.set_defaults(run=run_lab)


def run_lab(args: argparse.Namespace) -> int:
    """Serve the page until it is stopped; raises ``ValueError`` for a port that is none."""
    if not 1 <= args.port <= 65535:
        raise ValueError(f"port: {args.port} given, allowed is 1 to 65535")
    from streamlit.web import cli

    options = ["--server.port", str(args.port), "--server.address", args.address or "localhost"]
    options += ["--server.headless", "true"] if args.no_browser else []
    cli.main(["run", str(root() / "app.py"), *options], prog_name="streamlit", standalone_mode=False)
    return 0
