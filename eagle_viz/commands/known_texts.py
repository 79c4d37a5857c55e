"""Texts that another engine answered, as ``simulate --texts`` reads them, and prompts answered here, simulated one by one."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from ..core.simulation import Tally, tally, whole
from ..core.tally_file import read_tally, write_tally
from .model import load_drafter, load_target, target_folder
from .parser import say

if TYPE_CHECKING:
    from ..engine.known_texts import KnownText
    from ..engine.target import Target

FORMAT = '{"prompt": text or [token ids], "answer": text or [token ids], "kind": text}'


def simulated_texts(args: argparse.Namespace) -> tuple[dict[str, str], dict[str, Tally]]:
    """Whose texts they are, and the tally of each kind.

    With ``--keep`` each text's own is written as soon as it is done, and read the next time.
    Raises ``ValueError`` naming the line of a text that is none.
    """
    from ..engine.generation import calibration_for
    from ..engine.known_texts import contexts_along
    from ..engine.sampling import Settings

    if args.drafter == "oracle":
        raise ValueError("drafter: oracle given, allowed is head: the target's first choice is always what greedy decoding takes")
    target = load_target(args)
    drafter = load_drafter(args, target)
    texts = _texts(args, target)
    made = _made(args)
    found: dict[str, Tally] = {}
    began, measured = monotonic(), 0
    for done, (identity, make) in enumerate(texts, start=1):
        kept = None if args.keep is None else Path(args.keep) / f"{_digest([made, identity])}.npz"
        if kept is not None and kept.exists():
            kind, one = read_tally(kept)
        else:
            text, measured = make(), measured + 1
            kind, one = (
                text.kind,
                whole(tally(((text.kind, cycle) for cycle in contexts_along(target, drafter, text, args.reading)), exact=False)),
            )
            if kept is not None:
                write_tally(kept, kind, one)
        found[kind] = found[kind] + one if kind in found else one
        left = (monotonic() - began) / max(1, measured) * (len(texts) - done)
        say(f"{done} of {len(texts)} texts, {whole(found).count} contexts, about {left:.0f} s left")
    reading = "sampling" if calibration_for(drafter, Settings(reading=args.reading)) is None else "greedy"
    return {"target": str(target_folder(args)), "drafter": drafter.name, "reading": reading}, found


def _texts(args: argparse.Namespace, target: Target) -> Sequence[tuple[object, object]]:
    """What identifies each text, and a function that makes it: prompts are answered only when their turn comes."""
    if args.texts is not None:
        lines = [(number, line) for number, line in enumerate(Path(args.texts).read_text("utf-8").splitlines(), 1) if line.strip()]
        texts = [_known(number, line, target) for number, line in lines]
        if not texts:
            raise ValueError(f"texts: {args.texts} holds none, allowed is one a line: {FORMAT}")
        return [([one.kind, one.prompt, one.answer], partial(_same, one)) for one in texts][: args.limit]
    from .prompts import read_prompts

    prompts = read_prompts(args.prompts, args.limit)
    identities = [[one.kind, one.text, args.max_new_tokens] for one in prompts]
    return [
        (identity, partial(_answered, target, one, args.max_new_tokens)) for identity, one in zip(identities, prompts, strict=True)
    ]


def _same(text: KnownText) -> KnownText:
    return text


def _answered(target: Target, prompt, limit: int) -> KnownText:
    """The target's own greedy answer."""
    from ..engine.known_texts import KnownText
    from ..engine.plain import plain
    from ..engine.sampling import Settings

    ids = prompt.encode(target)
    answer = tuple(token for token, _ in plain(target, ids, Settings(limit)))
    return KnownText(prompt.name, prompt.kind, tuple(ids), answer)


def _known(number: int, line: str, target: Target) -> KnownText:
    """One line of a file of texts; a text is put into the chat template, token ids are taken as they are."""
    from ..engine.known_texts import KnownText

    wrong = f"texts: line {number} holds {line[:40]!r}, allowed is {FORMAT}"
    try:
        entry = json.loads(line)
        prompt, answer, kind = entry["prompt"], entry["answer"], str(entry.get("kind", "text"))
    except (json.JSONDecodeError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(wrong) from None
    if not all(isinstance(one, (str, list)) for one in (prompt, answer)):
        raise ValueError(wrong)
    prompt = target.encode_chat(prompt) if isinstance(prompt, str) else prompt
    answer = target.tokenizer.encode(answer, add_special_tokens=False) if isinstance(answer, str) else answer
    for name, tokens in (("prompt", prompt), ("answer", answer)):
        foreign = next((token for token in tokens if type(token) is not int or not 0 <= token < target.vocabulary), None)
        if foreign is not None:
            raise ValueError(
                f"texts: line {number} has {name} token {foreign!r}, allowed is a whole number from 0 to {target.vocabulary - 1}"
            )
    return KnownText(f"line {number}", kind, tuple(prompt), tuple(answer))


def _made(args: argparse.Namespace) -> list[object]:
    """What a tally depends on beside its text: target, head, precision and reading."""
    files = sorted(path for path in Path(args.head).glob("*") if path.suffix in (".json", ".safetensors", ".bin"))
    head = [sha256(path.read_bytes()).hexdigest() for path in files]
    return [str(target_folder(args)), head, args.dtype, args.reading]


def _digest(parts: Sequence[object]) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()[:32]
