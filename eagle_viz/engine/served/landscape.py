"""The landscape below a prompt, as a served model sees it: one request a frontier."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eagle_viz.core.landscape import Candidates, Landscape
from eagle_viz.core.tree import Path, path_name
from eagle_viz.engine.exact import below_float32, exact

from .client import Client
from .model import Report, ServedModel


class ServedLandscape(Landscape):
    """The ``top_k`` most probable next tokens after ``prompt`` and each path, asked from a vLLM, SGLang or llama.cpp server.

    ``url`` is the server's plain address; the engine and (unless named) the model are found by asking it. ``prompt`` token ids, the
    last one is the root. One request a level of the frontier, cut into pieces of ``batch`` paths with ``in_flight`` of them at a
    time; ``report(done, total)`` after each piece; ``cancelled()`` is asked before each. Confidences are the served model's own
    softmax, cut to float32 on the 2^-40 grid as drafted ones are, and so also the target's where the model drafts for itself; with
    a ``target`` of the same vocabulary (see ``same_vocabulary``) that one's probabilities stand beside them, where it tells them.
    A key is read from the environment's EAGLE_VIZ_API_KEY. Raises ``ServedError`` (``Cancelled`` when stopped) with one
    sentence, ``ValueError`` for a bad argument.

    Example: ``ServedLandscape("http://127.0.0.1:8000", prompt=[1, 17, 40], top_k=10).expand([()])[0].confidences[0]``.
    """

    def __init__(
        self,
        url: str | ServedModel,
        prompt: Sequence[int],
        top_k: int = 10,
        model: str | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        batch: int = 64,
        in_flight: int = 2,
        report: Report = lambda done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
        target: ServedModel | None = None,
    ):
        if not isinstance(top_k, int) or top_k < 1:
            raise ValueError(f"top_k: {top_k!r} given, allowed is a whole number from 1")
        self.prompt = _token_ids(prompt)
        self.root_token = self.prompt[-1]
        self.top_k, self.target, self._report = top_k, target, report
        found = url if isinstance(url, ServedModel) else None
        self.served = found or ServedModel.find(Client(url, timeout, retries, cancelled), model, batch, in_flight)

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
        found = self.served.most_probable(prompts, self.top_k, self._report)
        tokens = np.array([[token for token, _ in row] for row in found], dtype=np.int64)
        confidences = exact(np.array([[value for _, value in row] for row in found]))
        if self.target is None:
            return [Candidates(*row, row[1]) for row in zip(tokens, confidences, strict=True)]
        prices = self.target.probabilities(prompts, tokens.tolist())
        rows = zip(tokens, confidences, prices, strict=True)
        return [Candidates(*row, None if told is None else below_float32(told).astype(np.float64)) for *row, told in rows]


def _token_ids(prompt: Sequence[int]) -> tuple[int, ...]:
    ids = tuple(prompt)
    if not ids:
        raise ValueError("prompt: no token ids given, at least the root's is needed")
    for token in ids:
        if isinstance(token, bool) or not isinstance(token, int | np.integer) or token < 0:
            raise ValueError(f"prompt: {token!r} given, allowed are token ids, whole numbers from 0")
    return tuple(map(int, ids))
