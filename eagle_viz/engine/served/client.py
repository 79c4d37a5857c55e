"""Asking one server: time limits, retries, the key, and one sentence for everything that can go wrong."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import httpx

KEY_VARIABLE = "EAGLE_VIZ_API_KEY"
"""Environment variable that holds the server's key. It goes into a request's header and nowhere else."""
TARGET_KEY_VARIABLE = "EAGLE_VIZ_TARGET_API_KEY"
"""The same for the target, where it is served elsewhere than the drafter: neither server is told the other's key."""
BUSY = (429, 502, 503, 504)
"""Answers after which asking again may help."""


class ServedError(OSError):
    """A server cannot be used as a landscape; the message says why in one sentence."""


class Cancelled(ServedError):
    """The person who asked has stopped asking."""


@dataclass(frozen=True)
class Client:
    """JSON from one typed address: no redirect is followed, no proxy, no second host.

    ``timeout`` seconds one answer may take; ``retries`` further tries where the server is busy or the line breaks, waiting
    0.2, 0.4, 0.8 ... seconds; ``cancelled`` is asked before every try. ``key`` empty: the one in the environment's ``variable``
    (no ``variable``: none).
    Raises ``ServedError``, or ``ValueError`` for an address that is not plain http(s) or a key that no header can hold.
    """

    url: str
    timeout: float = 60.0
    retries: int = 2
    cancelled: Callable[[], bool] = lambda: False
    key: str = field(default="", repr=False)
    variable: str = KEY_VARIABLE

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise ValueError(f"timeout: {self.timeout!r} given, allowed are seconds above 0")
        if self.retries < 0:
            raise ValueError(f"retries: {self.retries!r} given, allowed is 0 or more")
        if not all("!" <= character <= "~" for character in self._secret):
            raise ValueError("key: spaces or characters outside ASCII in it, allowed are letters, digits and signs")
        object.__setattr__(self, "url", _checked(self.url).rstrip("/").removesuffix("/v1"))

    @property
    def _secret(self) -> str:
        return self.key or (os.environ.get(self.variable, "") if self.variable else "")

    @cached_property
    def _line(self) -> httpx.Client:
        # trust_env=False: neither a proxy nor a password file of the environment is asked or told.
        return httpx.Client(timeout=self.timeout, follow_redirects=False, trust_env=False)

    def get(self, place: str) -> dict | list:
        """The JSON at a place of the server, such as "/v1/models"."""
        return self._ask("GET", place, None)

    def post(self, place: str, body: dict) -> dict | list:
        """The JSON answer to a JSON body."""
        return self._ask("POST", place, body)

    def _ask(self, method: str, place: str, body: dict | None) -> dict | list:
        for attempt in range(self.retries + 1):
            if self.cancelled():
                raise Cancelled(f"{self.url}: cancelled before {place} was asked")
            last = attempt == self.retries
            try:
                answer = self._send(method, place, body)
            except httpx.RequestError as error:
                if last:
                    raise ServedError(self._unreached(error)) from None
            else:
                if last or answer.status_code not in BUSY:
                    return self._read(answer, place)
            time.sleep(0.2 * 2**attempt)
        raise AssertionError("the last try returns or raises")

    def _send(self, method: str, place: str, body: dict | None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._secret}"} if self._secret else {}
        return self._line.request(method, self.url + place, json=body, headers=headers)

    def _unreached(self, error: httpx.RequestError) -> str:
        if isinstance(error, httpx.TimeoutException):
            return f"{self.url}: no answer within {self.timeout:g} seconds; raise the timeout or ask for fewer paths at once"
        return f"{self.url}: no server answers here; start it or check the address"

    def _read(self, answer: httpx.Response, place: str) -> dict | list:
        status = answer.status_code
        if status in (401, 403):
            where = self.variable or "the password field"
            raise ServedError(f"{self.url}: the server refuses the key ({status}); put the right one in {where}")
        if answer.is_redirect:
            raise ServedError(f"{self.url}: the server sends us to another address ({status}); name that one yourself")
        if status != 200:
            raise ServedError(f"{self.url}: {place} answered {status}{self._reason(answer)}")
        try:
            found = answer.json()
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict | list):
            raise ServedError(f"{self.url}: {place} did not answer in JSON; is this a model server?")
        return found

    def _reason(self, answer: httpx.Response) -> str:
        """What the server says of its refusal, without our key: some servers repeat the header they were sent."""
        try:
            body = answer.json()
        except (ValueError, RecursionError):
            return ""
        error = body.get("error", body) if isinstance(body, dict) else {}
        text = error.get("message") if isinstance(error, dict) else error
        if not isinstance(text, str):
            return ""
        text = text.replace(self._secret, "(key)") if self._secret else text
        return ": " + " ".join(text.split())[:300]


def _checked(text: str) -> str:
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, TypeError):
        url = None
    if url is None or url.scheme not in ("http", "https") or not url.host:
        raise ValueError("url: not an address; allowed is for example http://127.0.0.1:8000")
    if url.userinfo or url.query or url.fragment:
        raise ValueError("url: name, key or query inside it; allowed is a plain address, with the key in a place of its own")
    return text
