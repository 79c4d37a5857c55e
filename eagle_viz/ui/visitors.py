"""Visitors of a served page without a browser: they speak the page's own protocol, and so load the server as browsers do.

What a browser draws is not measured, only what the server makes and sends: every script run, every message.
"""

from __future__ import annotations

import asyncio
import random
import re
import socket
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter, sleep
from urllib.parse import urlencode

import numpy as np
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from ..core.places import root

PATIENCE = 60.0
"""Seconds until a server or an answer is given up."""


@dataclass
class Seen:
    """One run of the page as a visitor saw it: ``seconds`` to its end, ``seeds`` that the trees name, ``errors`` and the text."""

    seconds: float
    seeds: set[int] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    text: str = ""


class Visitor:
    """One open page: ``see`` asks for an address or presses a button, and waits until the page stands."""

    def __init__(self, connection: websockets.ClientConnection) -> None:
        self._connection, self._query = connection, ""
        self._buttons: dict[str, str] = {}

    @classmethod
    async def open(cls, port: int) -> Visitor:
        """A new session at the server of this port."""
        options = {"subprotocols": ["streamlit"], "max_size": None, "origin": f"http://localhost:{port}"}
        return cls(await websockets.connect(f"ws://127.0.0.1:{port}/_stcore/stream", **options))

    async def close(self) -> None:
        """Leave the page."""
        await self._connection.close()

    async def see(self, press: str = "", **settings: object) -> Seen:
        """The page at these settings, or as it is after pressing the button of this key."""
        message = BackMsg()
        self._query = urlencode(settings) if settings else self._query
        message.rerun_script.query_string = self._query
        if press:
            state = message.rerun_script.widget_states.widgets.add()
            state.id, state.trigger_value = self._buttons[press], True
        began = perf_counter()
        await self._connection.send(message.SerializeToString())
        seen = Seen(0.0)
        while True:
            raw = await asyncio.wait_for(self._connection.recv(), PATIENCE)
            if self._read(raw, seen):
                seen.seconds = perf_counter() - began
                return seen

    def _read(self, raw: bytes, seen: Seen) -> bool:
        """Take one message in; whether it ends the run."""
        message = ForwardMsg.FromString(raw)
        kind = message.WhichOneof("type")
        if kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._look(message.delta.new_element, raw, seen)
        if kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            seen.errors.append("the script did not compile")
        return kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN

    def _look(self, element, raw: bytes, seen: Seen) -> None:
        what = element.WhichOneof("type")
        if what == "exception":
            seen.errors.append(element.exception.message)
        elif what == "button":
            self._buttons[element.button.id.rsplit("-", 1)[-1]] = element.button.id
        elif what == "html":
            seen.text += element.html.body
        seen.seeds.update(int(found) for found in re.findall(rb"seed (\d+),", raw))


class Server:
    """The page served from a process of its own; a context manager."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def __enter__(self) -> Server:
        place = root() / "app.py"
        options = ["--server.port", str(self.port), "--server.headless", "true", "--server.fileWatcherType", "none"]
        command = [sys.executable, "-m", "streamlit", "run", str(place), *options]
        self._process = subprocess.Popen(command, cwd=place.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def _wait(self) -> None:
        began = perf_counter()
        while perf_counter() - began < PATIENCE and self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            sleep(0.1)
        raise ValueError(f"page: it was not served on port {self.port} within {PATIENCE:g} seconds")

    def memory_mb(self) -> float | None:
        """Memory that the server's process holds now; None where the system does not tell it as Linux does."""
        status = Path(f"/proc/{self._process.pid}/status")
        found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
        return int(found[1]) / 1024 if found else None


@dataclass(frozen=True)
class Crowd:
    """What so many visitors at once met: every redraw changes seed and budget, with a pause of ``think_s`` on average.

    ``foreign`` redraws that named a seed of somebody else. Memory of the server's process before, with all of them there,
    and after they left, in MB.
    """

    sessions: int
    think_s: float
    redraws: int
    errors: int
    foreign: int
    median_s: float
    p95_s: float
    before_mb: float | None = None
    with_mb: float | None = None
    after_mb: float | None = None

    @property
    def mb_per_session(self) -> float | None:
        """What one more visitor costs the server."""
        return None if self.with_mb is None or self.before_mb is None else (self.with_mb - self.before_mb) / self.sessions

    def to_json(self) -> dict:
        """Plain numbers."""
        return asdict(self) | {"mb_per_session": self.mb_per_session}


async def redraw(visitor: Visitor, number: int, times: int, think_s: float) -> list[tuple[Seen, int]]:
    """One visitor's redraws, each with a seed and a budget that nobody else asks for."""
    seen, draw = [], random.Random(number)
    for turn in range(times):
        await asyncio.sleep(draw.uniform(0, 2 * think_s))
        seed = 1000 * (number + 1) + turn
        seen.append((await visitor.see(seed=seed, budget=draw.randint(10, 100)), seed))
    return seen


def counted(rounds: Iterable[Sequence[tuple[Seen, int]]], sessions: int, think_s: float, memory: Sequence[float | None]) -> Crowd:
    """The crowd's redraws in numbers."""
    seen = [one for found in rounds for one in found]
    seconds = np.array([one.seconds for one, _ in seen])
    errors = sum(bool(one.errors) for one, _ in seen)
    foreign = sum(one.seeds != {seed} for one, seed in seen)
    return Crowd(
        sessions, think_s, len(seen), errors, foreign, float(np.median(seconds)), float(np.quantile(seconds, 0.95)), *memory
    )


async def crowd(server: Server, sessions: int, redraws: int, think_s: float) -> Crowd:
    """So many visitors at once; the first page of all is opened before, so that what is loaded once is not counted as theirs."""
    first = await Visitor.open(server.port)
    await first.see(seed=1, budget=25)
    await first.close()
    before = server.memory_mb()
    visitors = [await Visitor.open(server.port) for _ in range(sessions)]
    rounds = await asyncio.gather(*(redraw(visitor, number, redraws, think_s) for number, visitor in enumerate(visitors)))
    held = server.memory_mb()
    await asyncio.gather(*(visitor.close() for visitor in visitors))
    await asyncio.sleep(2)
    return counted(rounds, sessions, think_s, (before, held, server.memory_mb()))


@dataclass(frozen=True)
class Beside:
    """Redraws of ``alone`` visitors, and of as many while an answer is generated; what the second asker is told meanwhile."""

    alone: Crowd
    generating: Crowd
    slower: float
    waiting: str

    def to_json(self) -> dict:
        """Plain numbers; ``slower`` is the ratio of the medians."""
        both = {"alone": self.alone.to_json(), "generating": self.generating.to_json()}
        return both | {"slower": self.slower, "waiting": self.waiting}


async def beside(server: Server, sessions: int = 10, redraws: int = 5, think_s: float = 2.0) -> Beside:
    """Visitors of the lab before and while two others ask for a live answer; raises ``ValueError`` where no answer is generated."""
    visitors = [await Visitor.open(server.port) for _ in range(sessions)]
    alone = await asyncio.gather(*(redraw(one, number, redraws, think_s) for number, one in enumerate(visitors)))
    askers = [await Visitor.open(server.port) for _ in range(2)]
    for asker in askers:
        await asker.see(view="text")
        await asker.see(press="live_start")
    told = (await askers[1].see()).text
    (stage,) = re.findall(r'data-testid="live-stage">([^<]*)', told) or [""]
    if "waiting" not in stage:
        raise ValueError(f"page: the second asker was told {stage!r}; is the target fetched?")
    busy = await asyncio.gather(*(redraw(one, 100 + number, redraws, think_s) for number, one in enumerate(visitors)))
    await askers[0].see(press="live_stop")
    await askers[1].see(press="live_stop")
    for one in (*visitors, *askers):
        await one.close()
    before, during = (counted(rounds, sessions, think_s, ()) for rounds in (alone, busy))
    return Beside(before, during, during.median_s / before.median_s, stage)


async def restarted(sessions: int = 3) -> int:
    """Errors that pages meet whose server is started anew: they come back with their address and with buttons of the old server."""
    with Server() as server:
        visitors = [await Visitor.open(server.port) for _ in range(sessions)]
        for number, visitor in enumerate(visitors):
            await visitor.see(seed=number + 1, budget=20)
    errors = 0
    with server:
        for number, old in enumerate(visitors):
            again = await Visitor.open(server.port)
            again._query, again._buttons = old._query, old._buttons
            pressed, seen = await again.see(press="redraw"), await again.see(seed=number + 1, budget=20)
            errors += len(pressed.errors) + len(seen.errors) + (seen.seeds != {number + 1})
            await again.close()
    return errors
