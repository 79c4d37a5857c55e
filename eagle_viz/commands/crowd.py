"""``bench page``: what many visitors at once cost the served page, and what they meet."""

from __future__ import annotations

import argparse

from ..core.documents import VERSION
from ..core.policies.base import check_whole
from .parser import print_json


def add_commands(benches: argparse._SubParsersAction) -> None:
    """Register ``page`` under ``bench``."""
    page = benches.add_parser("page", help="many sessions at once, a live answer beside them, the server started anew")
    page.add_argument("--sessions", type=int, default=50, help="visitors at once (default 50)")
    page.add_argument("--redraws", type=int, default=4, help="changes of seed and budget each of them makes (default 4)")
    page.add_argument(
        "--think", type=float, default=10.0, help="seconds between two changes of one visitor, on average (default 10)"
    )
    page.add_argument("--live", action="store_true", help="an answer of the real model beside ten visitors too (needs the target)")
    page.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")
    page.set_defaults(run=run_page)


def run_page(args: argparse.Namespace) -> int:
    """Serve the page, send the visitors, print what they met; 1 where one met an error or another's numbers."""
    import asyncio

    from ..ui.visitors import Server, beside, crowd, restarted

    sessions, redraws = check_whole("sessions", args.sessions, 1, 1000), check_whole("redraws", args.redraws, 1, 1000)
    if not 0 <= args.think <= 600:
        raise ValueError(f"think: {args.think} given, allowed is a number of seconds from 0 to 600")
    with Server() as server:
        found = asyncio.run(crowd(server, sessions, redraws, args.think))
        live = asyncio.run(beside(server)) if args.live else None
    again = asyncio.run(restarted())
    if args.json:
        both = {"crowd": found.to_json(), "beside": live and live.to_json(), "errors_after_restart": again}
        print_json({"version": VERSION} | both)
    else:
        _print(found, live, again)
    return int(bool(found.errors or found.foreign or again))


def _print(found, live, again: int) -> None:
    print(f"{found.sessions} sessions, a change every {found.think_s:g} s each: {found.redraws} redraws")
    print(
        f"  {found.errors} errors, {found.foreign} with another's numbers; median {found.median_s:.2f} s, p95 {found.p95_s:.2f} s"
    )
    if found.mb_per_session is not None:
        memory = f"{found.before_mb:.0f} MB before, {found.with_mb:.0f} MB with them, {found.after_mb:.0f} MB after they left"
        print(f"  memory of the server: {memory}; {found.mb_per_session:.1f} MB a session")
    if live is not None:
        seconds = f"median {live.alone.median_s:.2f} s alone, {live.generating.median_s:.2f} s beside a live answer"
        print(f"{live.alone.sessions} visitors: {seconds} ({live.slower:.1f} times); the second asker is told: {live.waiting}")
    print(f"server started anew under open pages: {again} errors")
