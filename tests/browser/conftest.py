"""A streamlit server on a free port and pages of a real Chromium, shared by all browser tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eagle_viz.stage.player import player_html

ROOT = Path(__file__).parents[2]
SETTLED = 90_000
"""Milliseconds a page may take before a test gives up on it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def chromium_path() -> str | None:
    """Debian's Chromium, or the one named by CHROMIUM."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def free_port() -> int:
    """A port nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """One headless Chromium for the session; skips, and says why, where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = chromium_path()
    if executable is None:
        pytest.skip("no chromium on this machine (apt install chromium, or set CHROMIUM)")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def contexts(browser) -> Iterator[Callable]:
    """Contexts of the browser by their options, kept for the session: what one test has loaded, the next need not load again."""
    known: dict[str, object] = {}

    def context(**options):
        if repr(options) not in known:
            known[repr(options)] = browser.new_context(accept_downloads=True, **options)
        return known[repr(options)]

    yield context
    for one in known.values():
        one.close()


@pytest.fixture(scope="session")
def spare() -> dict[str, list]:
    """Pages that a test is done with, by the options of their context: what runs in one process is compiled once."""
    return {}


@pytest.fixture
def open_page(browser, contexts, spare) -> Iterator[Callable]:
    """Open an address in a page of its own: ``open_page(url, width=1280, height=900, color_scheme="light", ...) -> page``.

    The page remembers ``requests`` (addresses asked for) and ``errors`` (uncaught ones) as attributes. ``fresh``: in a browser
    that has never seen the page.
    """
    opened, fresh_ones = [], []

    def open_one(url: str, width: int = 1280, height: int = 900, fresh: bool = False, **options):
        options["viewport"] = {"width": width, "height": height}
        waiting = [] if fresh else spare.setdefault(repr(options), [])
        page = waiting.pop() if waiting else None
        if page is None:
            context = browser.new_context(accept_downloads=True, **options) if fresh else contexts(**options)
            page = _watched(context.new_page())
            fresh_ones.extend([context] if fresh else [])
        else:
            _as_new(page, options)
        opened.extend([] if fresh else [(waiting, page)])
        page.requests, page.errors = [], []
        page.goto(url)
        return page

    yield open_one
    for context in fresh_ones:
        context.close()
    for waiting, page in opened:
        waiting.append(page)


def _watched(page):
    """The page, noting what it asks for and what fails in it."""
    page.set_default_timeout(SETTLED)
    page.on("request", lambda request: page.requests.append(request.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    return page


def _as_new(page, options: dict) -> None:
    """Put a used page back to what its context began with; going to another address does the rest."""
    page.mouse.move(0, 0)
    page.set_viewport_size(options["viewport"])
    page.emulate_media(
        color_scheme=options.get("color_scheme", "light"), reduced_motion=options.get("reduced_motion", "no-preference")
    )


STILL = """() => {
  const touched = () => (window.stillSince = performance.now());
  if (!window.stillWatch) {
    window.stillWatch = new MutationObserver(touched);
    window.stillWatch.observe(document.body, { subtree: true, childList: true, characterData: true });
    touched();
  }
  if (document.querySelector('[data-testid=stApp]:not([data-test-script-state=notRunning]), [data-testid=stSpinner]')) touched();
  return performance.now() - window.stillSince > 500;
}"""
SHOWS = """([name, value]) => [document, ...[...document.querySelectorAll('*')].flatMap((host) => host.shadowRoot ?? [])].some(
  (root) => root.querySelector(`[data-testid="${name}"]`)?.textContent.includes(value))"""


def wait_until_still(page) -> None:
    """Wait until the page's script has run and nothing has been added to the page for half a second."""
    page.wait_for_function(STILL, polling=50)


def settled(page, name: str, value: str) -> None:
    """Wait until what has this test id shows this text, in the page or in the stage."""
    page.wait_for_function(SHOWS, arg=[name, value], polling=50)


@pytest.fixture(scope="session")
def serve(tmp_path_factory) -> Iterator[Callable[[Path | str], str]]:
    """Serve a streamlit script, once a session: ``serve(path) -> "http://127.0.0.1:port"``."""
    running: dict[str, tuple[subprocess.Popen, str]] = {}

    def address(script: Path | str) -> str:
        if str(script) not in running:
            running[str(script)] = _start(Path(script), tmp_path_factory.mktemp("server") / "log")
        return running[str(script)][1]

    yield address
    for process, _ in running.values():
        process.terminate()
        process.wait(timeout=20)


def _start(script: Path, log: Path) -> tuple[subprocess.Popen, str]:
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port), "--server.address", "127.0.0.1"]
    command += ["--server.headless", "true", "--browser.gatherUsageStats", "false", "--server.fileWatcherType", "none"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    _wait_until_up(url, process, log)
    return process, url


def _wait_until_up(url: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.1)
    process.terminate()
    raise RuntimeError(f"streamlit did not come up: {log.read_text()[-2000:]}")


@pytest.fixture(scope="session")
def lab_url(serve) -> str:
    """The page itself."""
    return serve(ROOT / "app.py")


@pytest.fixture
def stage(open_page, serve) -> Callable:
    """Open the stage alone: ``stage("budget=25", width=..., ...) -> page`` once its trees are drawn."""

    def open_stage(query: str = "", **options):
        page = open_page(f"{serve(Path(__file__).with_name('stage_page.py'))}/?{query}", **options)
        page.wait_for_selector("[data-testid=stage] .node", state="attached")
        page.get_by_text("python sees").wait_for()
        return page

    return open_stage


@pytest.fixture(scope="session")
def players(tmp_path_factory) -> Callable[..., str]:
    """Address of an offline player for a trace, written once a session."""
    from tests.browser.stage_landscapes import trace_of

    written: dict[tuple, Path] = {}

    def player(budget: int, step: int | None, **of: object) -> str:
        key = (budget, step, *sorted(of.items()))
        if key not in written:
            written[key] = tmp_path_factory.mktemp("player") / "player.html"
            written[key].write_text(player_html(trace_of(**{"tier": 128} | of), budget=budget, step=step), encoding="utf-8")
        return written[key].as_uri()

    return player


@pytest.fixture
def drawn(open_page, players) -> Callable:
    """The same stage in its offline player, for laws in which Python has no part: it opens in a tenth of the time."""

    def open_player(budget: int = 25, step: int | None = None, source: str = "synthetic", page: dict | None = None, **of: object):
        opened = open_page(players(budget, step, source=source, **of), **(page or {}))
        opened.wait_for_selector("[data-testid=stage] .node", state="attached")
        return opened

    return open_player
