"""One served model: its server, the engine's dialect, and everything that is asked of it, checked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from .client import Client, ServedError
from .dialects import BROKEN, DIALECTS, Answer, Dialect, Prompts, Row

SLACK = 1e-3
"""How far the sum of reported probabilities may pass 1 and a chosen token stay behind the first: low-precision rounding."""
Report = Callable[[int, int], None]
"""Told how many of how many prompts are answered."""

Ranked = list[tuple[int, float]]
"""Token ids with their probabilities, most probable first."""
Found = TypeVar("Found")


@dataclass(frozen=True)
class ServedModel:
    """The model ``name`` behind ``client``, spoken to in ``dialect``: requests of up to ``batch`` prompts, ``in_flight`` at a time.

    Every method raises ``ServedError`` with one sentence (``Cancelled`` when stopped).
    """

    client: Client
    dialect: Dialect
    name: str
    batch: int = 64
    in_flight: int = 2

    def __post_init__(self) -> None:
        for field in ("batch", "in_flight"):
            value = getattr(self, field)
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{field}: {value!r} given, allowed is a whole number from 1")

    @classmethod
    def find(cls, client: Client, name: str | None = None, batch: int = 64, in_flight: int = 2) -> ServedModel:
        """Ask `/v1/models` which engine this is and what it serves; ``name``: the model wanted (None: the first)."""
        answer = client.get("/v1/models")
        cards = answer.get("data") if isinstance(answer, dict) else None
        cards = [card for card in cards if isinstance(card, dict) and "id" in card] if isinstance(cards, list) else []
        if not cards:
            raise ServedError(f"{client.url}: /v1/models names no model; is this a vLLM, SGLang or llama.cpp server?")
        names = [str(card["id"]) for card in cards]
        if name is not None and name not in names:
            raise ServedError(f"{client.url}: model {name!r} is not served here, allowed is {', '.join(names)}")
        card = cards[0 if name is None else names.index(name)]
        engine = str(card.get("owned_by"))
        if engine not in DIALECTS:
            raise ServedError(f"{client.url}: the engine calls itself {engine!r}, known are {', '.join(DIALECTS)}")
        return cls(client, DIALECTS[engine], str(card["id"]), batch, in_flight)

    @property
    def title(self) -> str:
        """The model's name without folders, for files and people.

        >>> ServedModel(Client("http://127.0.0.1:1"), DIALECTS["vllm"], "/models/Qwen3 8B.gguf").title
        'Qwen3-8B'
        """
        last = re.split(r"[/\\\\]", self.name.rstrip("/"))[-1].removesuffix(".gguf")
        return re.sub(r"[^\w.-]+", "-", last) or "model"

    def most_probable(self, prompts: Prompts, top_k: int, report: Report = lambda done, total: None) -> list[Ranked]:
        """Per prompt the ``top_k`` most probable next tokens with their probabilities; ties go to the smaller id."""

        def ask(piece: range) -> list[Ranked]:
            body = self.dialect.body(self.name, [prompts[place] for place in piece], top_k)
            return [self._ranked(row, top_k) for row in self._told(piece, body, self.dialect.rows)]

        return self._in_pieces(ask, len(prompts), self.batch, report)

    def probabilities(self, prompts: Prompts, wanted: Prompts) -> list[np.ndarray | None]:
        """Per prompt the probabilities of the wanted tokens after it; None where the server cannot tell one of them."""
        found = self._priced(prompts, wanted, all_of_them=False)
        unknown = [place for place, row in enumerate(found) if row is None]
        if unknown:
            again = self._priced([prompts[place] for place in unknown], [wanted[place] for place in unknown], all_of_them=True)
            found = [row if row is not None else again[unknown.index(place)] for place, row in enumerate(found)]
        return found

    def _priced(self, prompts: Prompts, wanted: Prompts, all_of_them: bool) -> list[np.ndarray | None]:
        def ask(piece: range) -> list[np.ndarray | None]:
            tokens = [wanted[place] for place in piece]
            body = self.dialect.pricing(self.name, [prompts[place] for place in piece], tokens, all_of_them)
            told = self._told(piece, body, self.dialect.prices)
            return [self._prices(row, asked) for row, asked in zip(told, tokens, strict=True)]

        return self._in_pieces(ask, len(prompts), self.dialect.priced_at_once or self.batch)

    def greedy(self, prompt: Sequence[int], limit: int) -> Answer:
        """The model's own greedy answer, at most ``limit`` tokens; raises where it has none."""
        answer = self._understood(lambda: self.dialect.greedy(self.client.post, self.name, prompt, limit))
        if not answer.tokens:
            raise ServedError(f"{self.who}: an empty answer; this model has nothing to say to this prompt")
        return Answer(answer.tokens[:limit], answer.ended)

    def encode_chat(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """Token ids of a chat in the model's own template, up to where the answer begins."""
        return self._understood(lambda: self.dialect.encode_chat(self.client.post, self.name, messages))

    def encode_raw(self, text: str) -> list[int]:
        """Token ids of a text as it stands, behind the token that the tokenizer puts before every text, if it has one."""
        return self.encode(text, special=True)

    def encode(self, text: str, special: bool = False) -> list[int]:
        """Token ids of a text; ``special``: as the beginning of a prompt."""
        return self._understood(lambda: self.dialect.encode(self.client.post, self.name, text, special))

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of token ids."""
        return self._understood(lambda: self.dialect.decode(self.client.post, self.name, tokens))

    def texts(self, tokens: Sequence[int]) -> dict[int, str]:
        """What each of these tokens reads as by itself."""
        with ThreadPoolExecutor(max_workers=self.in_flight) as pool:
            return dict(zip(tokens, pool.map(lambda token: self.decode([token]), tokens), strict=True))

    @property
    def who(self) -> str:
        """Address and engine, for sentences."""
        return f"{self.client.url} ({self.dialect.name})"

    def _in_pieces(
        self, ask: Callable[[range], list[Found]], count: int, size: int, report: Report = lambda done, total: None
    ) -> list[Found]:
        """Ask for places 0 .. count - 1 in pieces; the answers in order."""
        found: list[Found] = []
        with ThreadPoolExecutor(max_workers=self.in_flight) as pool:
            try:
                for rows in pool.map(ask, _pieces(count, size)):
                    found += rows
                    report(len(found), count)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)  # what was not sent yet is not sent after a failure
                raise
        return found

    def _told(self, piece: range, body: dict, read: Callable[[dict | list], list[Found]]) -> list[Found]:
        rows = self._understood(lambda: read(self.client.post(self.dialect.place, body)))
        if len(rows) != len(piece):
            raise ServedError(f"{self.who}: {len(rows)} answers to {len(piece)} prompts")
        return rows

    def _understood(self, ask: Callable[[], Found]) -> Found:
        try:
            return ask()
        except BROKEN:
            raise ServedError(f"{self.who}: the answer lacks token ids or log-probabilities; a newer version tells them") from None

    def _ranked(self, row: Row, top_k: int) -> Ranked:
        """Most probable first; refused where the numbers are not a plain softmax's."""
        self._check_finite(row.logprobs.values())
        ranked = sorted(row.logprobs.items(), key=lambda pair: (-pair[1], pair[0]))[:top_k]
        if len(ranked) < top_k:
            raise ServedError(
                f"{self.who}: {len(ranked)} log-probabilities told, {top_k} asked; lower top_k or raise the server's limit"
            )
        total = sum(math.exp(value) for _, value in ranked)
        told = ranked[0][1] if row.chosen is None else row.logprobs.get(row.chosen, -math.inf)
        if total > 1 + SLACK or told < ranked[0][1] - SLACK:
            raise ServedError(
                f"{self.who}: the server samples instead of reporting (token {row.chosen} chosen, {ranked[0][0]} is the most "
                f"probable, the {top_k} probabilities sum to {total:.3f}); switch its sampling options off"
            )
        return [(token, math.exp(value)) for token, value in ranked]

    def _prices(self, row: Mapping[int, float], wanted: Sequence[int]) -> np.ndarray | None:
        if not all(int(token) in row for token in wanted):
            return None
        values = [row[int(token)] for token in wanted]
        self._check_finite(values)
        return np.exp(np.minimum(values, 0.0))

    def _check_finite(self, values) -> None:
        if not all(isinstance(value, int | float) and math.isfinite(value) and value <= SLACK for value in values):
            raise ServedError(f"{self.who}: a log-probability is not a finite number up to 0")


def _pieces(count: int, size: int) -> Iterator[range]:
    return (range(start, min(start + size, count)) for start in range(0, count, size))
