"""Live generation in a thread of its own: the page polls it, can stop it, and is told in one sentence why it failed."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from ..core.greedy import CANDIDATES
from ..core.places import models
from ..core.policies import Eagle1, Eagle2, Policy
from ..core.recording import Recording
from ..engine.prompts import Prompt
from . import live_local, live_served
from .line import Line
from .live_served import Servers
from .settings import RECORDED_CHAIN, USUAL_BUDGET

if TYPE_CHECKING:
    from ..engine.drafted import Drafter
    from ..engine.head import Head
    from ..engine.target import Target

DESERTED = 60.0
"""Seconds without a look from the page after which a run without trees yet stops by itself."""
HEADS = models()
_LINE = Line()
"""There is one model on this machine, whoever asks."""
DRAFTERS = {
    "head": "the trained EAGLE head",
    "oracle": "the target itself (slow, an upper bound)",
    "served": "a model behind a server",
}


@dataclass(frozen=True)
class Request:
    """What to generate: greedy, at most ``limit`` tokens; EAGLE-2 drafts ``budget`` nodes a pass, and they alone are verified.

    ``shown`` the policies on the page: their trees are drafted below each root too, in the same pass. ``servers`` whom to ask
    instead of a model on this machine. Afterwards, ``timed``: measure the speed; ``every_setting``: draft for all other settings.
    """

    prompt: Prompt
    drafter: str
    limit: int
    budget: int
    top_k: int
    max_depth: int
    shown: tuple[Policy, ...] = (Eagle1(), Eagle2())
    servers: Servers | None = None
    timed: bool = False
    every_setting: bool = False

    @property
    def contest(self) -> dict[str, tuple[Policy, int]]:
        """Who is verified."""
        return {"eagle2": (Eagle2(self.top_k, self.max_depth), self.budget)}

    @property
    def beside(self) -> list[tuple[Policy, int]]:
        """Who is drafted beside it, up to the largest budget of the page.

        A policy that needs an average over other texts is left out: an answer of its own has none.
        """
        drafted = (policy for policy in self.shown if not policy.needs_average)
        return [(policy, RECORDED_CHAIN if policy.single_path else USUAL_BUDGET) for policy in drafted]

    def __post_init__(self) -> None:
        if self.drafter not in DRAFTERS:
            raise ValueError(f"drafter: {self.drafter!r} given, allowed is {' or '.join(DRAFTERS)}")
        if (self.drafter == "served") != (self.servers is not None):
            raise ValueError(
                f"servers: {self.servers!r} given with drafter {self.drafter!r}, allowed is an address with 'served' alone"
            )


def asked(text: str, system: str = "", raw: bool = False, before: tuple[str, ...] = ()) -> Prompt:
    """A prompt typed on the page, under a name of its own: what is cached under it is never another run's.

    Raises ``ValueError`` as ``Prompt`` does.
    """
    return Prompt(f"live-{secrets.token_hex(4)}", "Your prompt", "live", text, system, before, raw)


@dataclass
class Live:
    """A run as the page sees it; only the run's own thread writes.

    ``stage`` what it is doing and ``share`` how much of that is done; ``pieces`` the answer so far, what each token added to the
    text and its kind ("first", "accepted" or "bonus").
    ``numbers`` what was measured; ``error`` one sentence if it failed; ``recording`` the passes made so far, ``published`` how many
    times it has grown: each time under another name, because what is cached under a name never changes.
    """

    request: Request | None
    stage: str = "starting"
    share: float = 0.0
    pieces: list[tuple[str, str]] = field(default_factory=list)
    numbers: dict[str, float | str] = field(default_factory=dict)
    error: str | None = None
    recording: Recording | None = None
    published: int = 0
    finished: bool = False
    stop: threading.Event = field(default_factory=threading.Event)
    seen: float = field(default_factory=monotonic)

    def say(self, stage: str, share: float = 0.0) -> None:
        """Report progress; raises ``Stopped`` where the user has had enough, or has left before there was anything to look at."""
        deserted = self.recording is None and monotonic() - self.seen > DESERTED
        if self.stop.is_set() or deserted:
            raise Stopped
        self.stage, self.share = stage, min(max(share, 0.0), 1.0)

    def publish(self, made: Recording) -> None:
        """Show what has been made so far, its confidences read for greedy decoding where the drafter knows how."""
        self.published += 1
        self.recording = replace(made, name=f"{made.name}-{self.published}").for_greedy()

    @property
    def turns(self) -> tuple[str, ...]:
        """The conversation with this answer at its end, for the next turn; none after a raw prompt or a run without an answer."""
        prompt = self.request.prompt if self.request else None
        if prompt is None or prompt.raw or not self.pieces or not self.finished:
            return ()
        return (*prompt.before, prompt.text, "".join(text for text, _ in self.pieces))


class Stopped(Exception):
    """The user stopped the run."""


def target_is_here() -> bool:
    """Whether the default target's weights were fetched."""
    from ..engine.fetch import is_fetched

    return is_fetched()


def heads() -> list[Path]:
    """Folders of the shipped heads."""
    return sorted(path.parent for path in HEADS.glob("*/model.safetensors"))


def start(request: Request) -> Live:
    """Generate in the background."""
    if request.servers is not None:
        return _in_background(Live(request), lambda live: live_served.generate(live, request, request.servers))
    return _in_background(Live(request), lambda live: _generate(live, request))


def start_fetch() -> Live:
    """Fetch the default target in the background."""
    return _in_background(Live(None), _fetch)


def _in_background(live: Live, work: Callable[[Live], None]) -> Live:
    threading.Thread(target=_guarded, args=(live, work), daemon=True).start()
    return live


def _guarded(live: Live, work: Callable[[Live], None]) -> None:
    """Whatever goes wrong in the thread ends as a sentence on the page."""
    try:
        work(live)
        live.stage = "done"
    except Stopped:
        live.stage = "stopped"
    except ImportError as error:
        live.error = f"The real model needs a package that is not installed here: {error.name or error}."
    except (OSError, ValueError, RuntimeError, LookupError, MemoryError) as error:
        live.error = " ".join(str(error).split())[:400] or type(error).__name__
    finally:
        live.finished = True


def _fetch(live: Live) -> None:
    from ..engine.fetch import fetch_target

    fetch_target(progress=lambda stage, share: live.say(stage, share))


def _generate(live: Live, request: Request) -> None:
    with _LINE.turn(lambda before: live.say(f"waiting, {before} {'answer' if before == 1 else 'answers'} before this one")):
        live.say("loading the model")
        live_local.generate(live, request, *load(request.drafter, request.top_k))


def load(drafter: str, top_k: int) -> tuple[Target, Drafter]:
    """The target in float32 and a drafter of this run's own (it carries a cache) that scores ``top_k`` candidates a node or more;
    raises ``ValueError`` where a part is missing.
    """
    from ..engine.drafted import HeadDrafter, OracleDrafter

    if drafter == "oracle":
        return _target(), OracleDrafter(_target(), max(CANDIDATES, top_k))
    if not heads():
        raise ValueError("head: none is shipped in models/ yet; choose the target itself as drafter")
    return _target(), HeadDrafter(_head(heads()[0]), max(CANDIDATES, top_k), heads()[0].name)


def _loading() -> str:
    """What is being loaded and how much memory it takes; raises ``ValueError`` where that is not free."""
    from ..engine.fetch import default_target_path
    from ..engine.memory import free_memory, need_of

    need = need_of(default_target_path(), "float32")
    if need is None or _target.cache_info().currsize:
        return "loading the model"
    free = free_memory()["cpu"]
    need.check(free)
    return f"loading {need.sentence(free)}"


@lru_cache(maxsize=1)
def _target() -> Target:
    from ..engine.fetch import default_target_path, is_fetched
    from ..engine.target import Target

    if not is_fetched():
        raise ValueError("target: its weights are not here yet; fetch them first (93 MB)")
    return Target.load(default_target_path())


@lru_cache(maxsize=1)
def _head(folder: Path) -> Head:
    from ..engine.head import Head

    return Head.load(folder, _target())
