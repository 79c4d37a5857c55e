"""A live run on served models: their addresses as typed on the page, and what comes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..engine.assembly import Progress
    from ..engine.served import ServedModel
    from .live import Live, Request


@dataclass(frozen=True)
class Servers:
    """Addresses and keys as typed; no ``target_url``: the model drafts for itself.

    Keys of the environment are not used here: whoever opens the page could have them sent to an address of their own.
    """

    url: str
    target_url: str = ""
    key: str = field(default="", repr=False)
    target_key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not self.url.strip():
            raise ValueError("server address: nothing given, for example http://127.0.0.1:8000 is needed")


def generate(live: Live, request: Request, servers: Servers) -> None:
    """Ask the servers; raises ``Stopped`` where the user has had enough, ``ServedError`` in one sentence."""
    from ..engine.expansion import HOLDS, expand_all, expand_for
    from ..engine.served import Cancelled, Pair, ServedRun, same_vocabulary
    from ..engine.texts import pieces
    from .live import Stopped

    def report(now: Progress) -> None:
        what = "drafting along the answer" if now.step == "generate" else "asking for both trees and all other settings"
        live.say(f"{what}: {now.done} of {now.total}", now.done / now.total)

    try:
        live.say("asking the server what it serves")
        pair = Pair(_find(live, servers.url, servers.key), _find(live, servers.target_url, servers.target_key))
        if pair.target is not None:
            live.say("comparing the two vocabularies")
            same_vocabulary(pair.drafter, pair.target)
        live.say("waiting for the answer")
        run = ServedRun(pair, request.prompt, request.limit, report=report)
        words = pieces(run.tokenizer, run.text.answer)
        live.pieces = [(text, "first") for text in words]  # the text stands at once, its passes are marked once they are drafted
        live.pieces = list(zip(words, run.kinds(), strict=True))
        shown = [policy for policy in request.shown if not policy.needs_average]
        live.publish(run.record(expand_for(shown), {"policies": [policy.title for policy in shown]}))
        if request.every_setting:
            live.publish(run.record(expand_all, HOLDS))
    except Cancelled as error:
        raise Stopped from error


def _find(live: Live, url: str, key: str) -> ServedModel | None:
    from ..engine.served import Client, ServedModel

    return ServedModel.find(Client(url.strip(), cancelled=live.stop.is_set, key=key, variable="")) if url.strip() else None
