"""Live generation in a thread of its own: the page polls it, can stop it, and is told in one sentence why it failed."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import zip_longest
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from ..core.places import models
from ..core.policies import BestStatic, Eagle1, Eagle2, Policy
from ..core.recording import Recording
from ..engine.prompts import Prompt
from . import live_served
from .live_served import Servers

if TYPE_CHECKING:
    from ..engine.assembly import Progress
    from ..engine.cycle import Cycle
    from ..engine.drafted import Drafter
    from ..engine.generation import Generation
    from ..engine.head import Head
    from ..engine.target import Target

DESERTED = 60.0
"""Seconds without a look from the page after which a run without trees yet stops by itself."""
HEADS = models()
DRAFTERS = {
    "head": "the trained EAGLE head",
    "oracle": "the target itself (slow, an upper bound)",
    "served": "a model behind a server (vLLM, SGLang, llama.cpp)",
}


@dataclass(frozen=True)
class Request:
    """What to generate: greedy, at most ``limit`` tokens; EAGLE-2 drafts ``budget`` nodes a pass.

    ``shown`` the policies on the page, whose trees are drafted first. ``servers`` whom to ask instead of a model on this machine.
    """

    prompt: Prompt
    drafter: str
    limit: int
    budget: int
    top_k: int
    max_depth: int
    shown: tuple[Policy, ...] = (Eagle1(), Eagle2())
    servers: Servers | None = None

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
    ``numbers`` what was measured; ``error`` one sentence if it failed; ``recording`` when its trees can be shown, and once more
    when they answer for every setting.
    """

    request: Request | None
    stage: str = "starting"
    share: float = 0.0
    pieces: list[tuple[str, str]] = field(default_factory=list)
    numbers: dict[str, float | str] = field(default_factory=dict)
    error: str | None = None
    recording: Recording | None = None
    finished: bool = False
    stop: threading.Event = field(default_factory=threading.Event)
    seen: float = field(default_factory=monotonic)

    def say(self, stage: str, share: float = 0.0) -> None:
        """Report progress; raises ``Stopped`` where the user has had enough, or has left before there was anything to look at."""
        deserted = self.recording is None and monotonic() - self.seen > DESERTED
        if self.stop.is_set() or deserted:
            raise Stopped
        self.stage, self.share = stage, min(max(share, 0.0), 1.0)

    @property
    def turns(self) -> tuple[str, ...]:
        """The conversation with this answer at its end, for the next turn; none after a raw prompt or a run without an answer."""
        prompt = self.request.prompt if self.request else None
        if prompt is None or prompt.raw or not self.pieces or not self.finished:
            return ()
        return (*prompt.before, prompt.text, "".join(text for text, _ in self.pieces))


class Stopped(Exception):
    """The user stopped the run."""


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
    from ..engine.generation import generate
    from ..engine.sampling import Settings
    from ..engine.texts import TextStream

    live.say("loading the model")
    target, drafter = load(request.drafter)
    # The same trees as without `early_stop`, in fewer draft passes.
    leader = {"eagle2": (Eagle2(request.top_k, request.max_depth, early_stop=True), request.budget)}
    live.say("reading the prompt")
    began = perf_counter()
    settings = Settings(request.limit, probabilities=False)
    run, cycles = generate(target, drafter, request.prompt.encode(target), leader, settings), []
    stream = TextStream(target.tokenizer)
    for cycle in run:
        cycles.append(cycle)
        accepted = cycle.verdicts[cycle.leader].accept_length
        kinds = ["first"] * (len(cycles) == 1) + ["accepted"] * accepted + ["bonus"]
        live.pieces += zip(map(stream.add, run.tokens[len(live.pieces) :]), kinds, strict=False)
        live.say(f"pass {run.passes}", len(run.tokens) / request.limit)
    seconds = perf_counter() - began
    live.pieces += [(stream.add(token), "first") for token in run.tokens[len(live.pieces) :]]  # an answer of one token has no pass
    live.pieces.append((stream.rest(), "bonus"))
    # All at once, because the page may look in between.
    live.numbers |= {
        "tokens": len(run.tokens),
        "speed": len(run.tokens) / seconds,
        "passes": run.passes,
        "tau": run.tau(),
        "expected": run.expected_tau(),
    }
    _compare_plain(live, target, run)
    _record(live, request, run, cycles)


def _compare_plain(live: Live, target: Target, run) -> None:
    """The same answer by plain greedy decoding: how fast, and whether it is the same text."""
    from ..engine.plain import plain
    from ..engine.sampling import Settings

    began, found = perf_counter(), []
    for token, _ in plain(target, run.prompt, Settings(max_new_tokens=max(1, len(run.tokens)))):
        found.append(token)
        live.say("plain decoding, to compare", len(found) / len(run.tokens))
    speed = len(found) / (perf_counter() - began)
    parted = next((i for i, pair in enumerate(zip_longest(found, run.tokens)) if pair[0] != pair[1]), None)
    same = "identical to plain decoding" if parted is None else f"differs from plain decoding at token {parted + 1}"
    live.numbers |= {"plain": speed, "same": same}


def _record(live: Live, request: Request, run: Generation, cycles: list[Cycle]) -> None:
    """Draft every context again for the stage: first what the page shows now, at any budget, then what it may be asked for."""
    from ..engine.expansion import HOLDS, expand_all, expand_for
    from ..engine.recorder import record_run

    # best_static needs an average over other texts, which an answer of its own has not.
    shown = [policy for policy in request.shown if not isinstance(policy, BestStatic)]
    for stage, expand, holds in (
        (
            "drafting both trees again, for the stage",
            expand_for(shown, run.drafter.greedy),
            {"policies": [policy.title for policy in shown]},
        ),
        ("drafting for all other settings", partial(expand_all, greedy=run.drafter.greedy), HOLDS),
    ):

        def report(now: Progress, stage: str = stage) -> None:
            live.say(f"{stage}: context {now.done} of {now.total}", now.done / now.total)

        live.recording = record_run(run, cycles, request.prompt, expand, holds, report=report)


def load(drafter: str) -> tuple[Target, Drafter]:
    """The target in float32 and a drafter of this run's own (it carries a cache); raises ``ValueError`` where a part is missing."""
    from ..engine.drafted import HeadDrafter, OracleDrafter

    if drafter == "oracle":
        return _target(), OracleDrafter(_target())
    if not heads():
        raise ValueError("head: none is shipped in models/ yet; choose the target itself as drafter")
    return _target(), HeadDrafter(_head(heads()[0]), name=heads()[0].name)


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
