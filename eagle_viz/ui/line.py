"""One model for everybody on the page: who came first is answered first, the others are told how many are before them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOOK = 0.5
"""Seconds between two looks of those who wait."""


class Line:
    """A queue of threads; the first one works."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._tickets: list[object] = []

    @contextmanager
    def turn(self, tell: Callable[[int], None]) -> Iterator[None]:
        """Wait for one's turn, and keep it until the block ends.

        ``tell`` hears again and again how many are before; it may raise to leave the line.
        """
        ticket = object()
        with self._changed:
            self._tickets.append(ticket)
        try:
            while before := self._before(ticket):
                tell(before)
                with self._changed:
                    self._changed.wait(LOOK)
            yield
        finally:
            with self._changed:
                self._tickets.remove(ticket)
                self._changed.notify_all()

    def _before(self, ticket: object) -> int:
        with self._changed:
            return self._tickets.index(ticket)
