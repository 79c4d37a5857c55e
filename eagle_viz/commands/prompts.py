"""Prompt files: a JSON object a line with ``turns`` (MT-bench's form) or ``text``; only the first turn is asked."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..engine.prompts import PROMPTS, Prompt


def add_prompts(parser: argparse.ArgumentParser) -> None:
    """The options that say what is answered, and how much of it."""
    parser.add_argument("--prompts", help='a JSON object a line, {"text": ...} or {"turns": [...]} (default: the shipped prompts)')
    parser.add_argument("--limit", type=int, help="so many of them, evenly spread over the file")
    parser.add_argument("--max-new-tokens", type=int, default=128, help="length of each answer (default 128)")
    parser.add_argument("--json", action="store_true", help="a versioned JSON document instead of text")


def read_prompts(path: str | None, limit: int | None = None) -> list[Prompt]:
    """Prompts of a file, or the shipped ones where none is named; ``limit`` takes so many, evenly spread over the file.

    Raises ``ValueError`` naming the line, what stands there and what is allowed, ``OSError`` for a file that cannot be read.
    """
    prompts = list(PROMPTS) if path is None else _parse(Path(path).read_text(encoding="utf-8"))
    if not prompts:
        raise ValueError(f"prompts: {path!r} holds none, at least one is needed")
    if limit is None:
        return prompts
    if limit < 1:
        raise ValueError(f"limit: {limit} given, allowed is a whole number from 1")
    count = min(limit, len(prompts))
    return [prompts[i * len(prompts) // count] for i in range(count)]


def source_name(path: str | None) -> str:
    """What a table says of where its prompts came from: the file's name alone, or that they are the shipped ones."""
    return Path(path).stem if path else "shipped prompts"


def _parse(text: str) -> list[Prompt]:
    return [_prompt(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def _prompt(number: int, line: str) -> Prompt:
    try:
        entry = json.loads(line)
        text = entry["turns"][0] if "turns" in entry else entry["text"]
    except (json.JSONDecodeError, TypeError, KeyError, IndexError):
        text = None
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f'prompts: line {number} holds {line[:40]!r}, allowed is {{"text": "..."}} or {{"turns": ["..."]}}')
    name = str(entry.get("question_id", entry.get("name", number)))
    return Prompt(name, text[:40], str(entry.get("category", entry.get("kind", "text"))), text)
