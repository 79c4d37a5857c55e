"""The landscape below a prompt, as a served model sees it: one request a frontier."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from eagle_viz.core.landscape import Candidates, Landscape
from eagle_viz.core.tree import Path, path_name
from eagle_viz.engine.exact import exact

from .client import Client, ServedError
from .dialects import Row, discover

SLACK = 1e-3
"""How far the sum of reported probabilities may pass 1 and a chosen token stay behind the first: low-precision rounding."""


class ServedLandscape(Landscape):
    """The ``top_k`` most probable next tokens after ``prompt`` and each path, asked from a vLLM, SGLang or llama.cpp server.

    ``url`` is the server's plain address; the engine and (unless named) the model are found by asking it. ``prompt`` token ids, the
    last one is the root. One request a level of the frontier, cut into pieces of ``batch`` paths with ``in_flight`` of them at a
    time; ``report(done, total)`` after each piece; ``cancelled()`` is asked before each. Confidences are the served model's own
    softmax, cut to float32 on the 2^-40 grid as drafted ones are, and so also the target's where the model drafts for itself.
    A key is read from the environment's EAGLE_VIZ_API_KEY. Raises ``ServedError`` (``Cancelled`` when stopped) with one
    sentence, ``ValueError`` for a bad argument.

    Example: ``ServedLandscape("http://127.0.0.1:8000", prompt=[1, 17, 40], top_k=10).expand([()])[0].confidences[0]``.
    """

    def __init__(
        self,
        url: str,
        prompt: Sequence[int],
        top_k: int = 10,
        model: str | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        batch: int = 64,
        in_flight: int = 2,
        report: Callable[[int, int], None] = lambda done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ):
        for name, value in {"top_k": top_k, "batch": batch, "in_flight": in_flight}.items():
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}: {value!r} given, allowed is a whole number from 1")
        self.prompt = _token_ids(prompt)
        self.root_token = self.prompt[-1]
        self.top_k, self.batch, self.in_flight, self._report = top_k, batch, in_flight, report
        self._client = Client(url, timeout, retries, cancelled)
        self.served = discover(self._client, model)

    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        needed = {path[:depth] for path in paths for depth in range(len(path) + 1)} - self._memo.keys()
        for depth in sorted({len(path) for path in needed}):
            level = sorted(path for path in needed if len(path) == depth)
            self._memo.update(zip(level, self._ask([self._ids(path) for path in level]), strict=True))
        return [self._memo[path] for path in paths]

    def _ids(self, path: Path) -> list[int]:
        """The prompt and the tokens along a path whose ancestors are known."""
        ids = list(self.prompt)
        for depth, rank in enumerate(path):
            siblings = self._memo[path[:depth]].tokens
            if not 0 <= rank < len(siblings):
                name = path_name(path[: depth + 1])
                raise ValueError(f"path {name}: rank {rank} given, allowed is 0 to {len(siblings) - 1}")
            ids.append(int(siblings[rank]))
        return ids

    def _ask(self, prompts: list[list[int]]) -> list[Candidates]:
        pieces = [prompts[start : start + self.batch] for start in range(0, len(prompts), self.batch)]
        found: list[Candidates] = []
        with ThreadPoolExecutor(max_workers=self.in_flight) as pool:
            try:
                for rows in pool.map(self._ask_piece, pieces):
                    found += rows
                    self._report(len(found), len(prompts))
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)  # what was not sent yet is not sent after a failure
                raise
        return found

    def _ask_piece(self, prompts: list[list[int]]) -> list[Candidates]:
        dialect = self.served.dialect
        answer = self._client.post(dialect.place, dialect.body(self.served.model, prompts, self.top_k))
        try:
            rows = dialect.rows(answer)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise ServedError(f"{self._who}: the answer lacks token ids or log-probabilities; a newer version tells them") from None
        if len(rows) != len(prompts):
            raise ServedError(f"{self._who}: {len(rows)} answers to {len(prompts)} prompts")
        return [self._candidates(row) for row in rows]

    def _candidates(self, row: Row) -> Candidates:
        """Most probable first, ties to the smaller id; refused where the numbers are not a plain softmax's."""
        if not all(isinstance(value, int | float) and math.isfinite(value) and value <= SLACK for value in row.logprobs.values()):
            raise ServedError(f"{self._who}: a log-probability is not a finite number up to 0")
        ranked = sorted(row.logprobs.items(), key=lambda pair: (-pair[1], pair[0]))[: self.top_k]
        if len(ranked) < self.top_k:
            raise ServedError(
                f"{self._who}: {len(ranked)} log-probabilities told, {self.top_k} asked; lower top_k or raise the server's limit"
            )
        probabilities = np.exp([[value for _, value in ranked]])
        told = row.logprobs.get(row.chosen, -math.inf)
        if probabilities.sum() > 1 + SLACK or told < ranked[0][1] - SLACK:
            raise ServedError(
                f"{self._who}: the server samples instead of reporting (token {row.chosen} chosen, {ranked[0][0]} is the most "
                f"probable, the {self.top_k} probabilities sum to {probabilities.sum():.3f}); switch its sampling options off"
            )
        confidences = exact(probabilities)[0]
        return Candidates(np.array([token for token, _ in ranked], dtype=np.int64), confidences, confidences)

    @property
    def _who(self) -> str:
        return f"{self._client.url} ({self.served.dialect.name})"


def _token_ids(prompt: Sequence[int]) -> tuple[int, ...]:
    ids = tuple(prompt)
    if not ids:
        raise ValueError("prompt: no token ids given, at least the root's is needed")
    for token in ids:
        if isinstance(token, bool) or not isinstance(token, int | np.integer) or token < 0:
            raise ValueError(f"prompt: {token!r} given, allowed are token ids, whole numbers from 0")
    return tuple(map(int, ids))
