"""EAGLE's answer files: one question a line, its ``choices`` with new tokens and passes a turn; Spec-Bench's with accept lengths.

Fields as in SafeAILab/EAGLE eagle/evaluation/gen_ea_answer_llama3chat.py (commit 12c417d: ``idxs`` and ``new_tokens`` a turn,
where an idx is the last pass's index from 0, so that a turn made idx + 1 passes) and hemingkx/Spec-Bench evaluation/eval.py
(commit 70f8b28: ``decoding_steps``, ``accept_lengths`` with the bonus token counted).
"""

from __future__ import annotations

from collections.abc import Mapping

from .acceptance import Acceptance
from .document import Document, counts, tokens_by_step
from .requests import Request, pooled

TURNS = "EAGLE's idx counts passes from 0, so tau here is new tokens / (idx + 1), the bonus token counted."
LENGTHS = "These accept lengths count the bonus token: their mean is tau, and one less was accepted of the draft."
BARE = "These accept lengths hold a 0, so they leave the bonus token out: tau is their mean + 1."


def read_answers(document: Document) -> Acceptance | None:
    """A whole answer file, every choice and turn; None where no choice has what passes accepted."""
    choices = [choice for line in document.values if isinstance(line, dict) for choice in _choices(line)]
    lengths = [length for choice in choices for length in counts(choice, "accept_lengths", "accept_length") or ()]
    if lengths:
        return _by_length(lengths)
    turns = [
        choice for choice in choices if {"idxs", "new_tokens"} <= choice.keys() or {"decoding_steps", "new_tokens"} <= choice.keys()
    ]
    return pooled("eagle-answers", TURNS, [request for choice in turns for request in _turns(choice)]) if turns else None


def _choices(line: Mapping) -> list[Mapping]:
    found = line.get("choices")
    return [choice for choice in found if isinstance(choice, dict)] if isinstance(found, list) else []


def _by_length(lengths: list[int]) -> Acceptance:
    bare = min(lengths) == 0
    steps = lengths if bare else [length - 1 for length in lengths]
    return pooled("eagle-answers", BARE if bare else LENGTHS, [Request(histogram=tokens_by_step("accept_lengths", steps))])


def _turns(choice: Mapping) -> list[Request]:
    tokens, last = counts(choice, "new_tokens") or [], counts(choice, "idxs")
    passes = counts(choice, "decoding_steps") or [] if last is None else [index + 1 for index in last]
    if len(tokens) != len(passes):
        raise ValueError(f"new_tokens: {len(tokens)} turns beside {len(passes)} of idxs given, allowed is as many")
    return [Request(made, _accepted(new, made)) for new, made in zip(tokens, passes, strict=True)]


def _accepted(tokens: int, passes: int) -> int:
    if tokens < passes:
        raise ValueError(f"new_tokens: {tokens} in {passes} passes given, allowed is at least one token a pass")
    return tokens - passes
