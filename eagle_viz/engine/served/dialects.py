"""What each engine is asked and how it answers: for every prompt of token ids its most probable next tokens.

Sources: vLLM `entrypoints/openai/serving_completion.py` (`_create_completion_logprobs`: up to k + 1 entries named "token_id:17"),
SGLang `srt/managers/tokenizer_manager.py` (`detokenize_logprob_tokens`: [log-probability, id, text]) and
`srt/entrypoints/openai/protocol.py` (`owned_by`); llama.cpp's answers as its server gave them (`completion_probabilities`).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .client import Client, ServedError

Prompts = Sequence[Sequence[int]]


class Row(NamedTuple):
    """What follows one prompt: the token that the server chose (None: not told), and token id -> log-probability."""

    chosen: int | None
    logprobs: dict[int, float]


class Dialect(ABC):
    """One engine's request and answer."""

    name: str
    place: str

    @abstractmethod
    def body(self, model: str, prompts: Prompts, top_k: int) -> dict:
        """The request: one new token a prompt, the most probable one, with ``top_k`` log-probabilities before sampling."""

    @abstractmethod
    def rows(self, answer: dict | list) -> list[Row]:
        """The answer, in the order of the prompts; ``KeyError``, ``IndexError``, ``TypeError``, ``ValueError``: not told."""


class VLLM(Dialect):
    """`/v1/completions` with a list of id lists."""

    name, place = "vLLM", "/v1/completions"

    def body(self, model: str, prompts: Prompts, top_k: int) -> dict:
        asked = {"model": model, "prompt": [list(ids) for ids in prompts], "max_tokens": 1, "temperature": 0, "logprobs": top_k}
        return {**asked, "return_tokens_as_token_ids": True}

    def rows(self, answer: dict | list) -> list[Row]:
        return [self._row(choice["logprobs"]) for choice in sorted(answer["choices"], key=lambda choice: choice["index"])]

    def _row(self, told: dict) -> Row:
        return Row(_named(told["tokens"][0]), {_named(name): value for name, value in told["top_logprobs"][0].items()})


class SGLang(Dialect):
    """`/generate` with a list of id lists."""

    name, place = "SGLang", "/generate"

    def body(self, model: str, prompts: Prompts, top_k: int) -> dict:
        sampling = {"temperature": 0, "max_new_tokens": 1}
        return {
            "input_ids": [list(ids) for ids in prompts],
            "sampling_params": sampling,
            "return_logprob": True,
            "top_logprobs_num": top_k,
        }

    def rows(self, answer: dict | list) -> list[Row]:
        answers = answer if isinstance(answer, list) else [answer]
        return [self._row(one["meta_info"]) for one in answers]

    def _row(self, told: dict) -> Row:
        chosen = told["output_token_logprobs"][0][1]
        return Row(int(chosen), {int(entry[1]): entry[0] for entry in told["output_top_logprobs"][0]})


class LlamaCpp(Dialect):
    """`/completion` with a list of id lists; without `post_sampling_probs` it tells the plain softmax."""

    name, place = "llama.cpp", "/completion"

    def body(self, model: str, prompts: Prompts, top_k: int) -> dict:
        sampling = {"n_predict": 1, "temperature": 0, "n_probs": top_k, "post_sampling_probs": False, "cache_prompt": True}
        return {"model": model, "prompt": [list(ids) for ids in prompts], **sampling}

    def rows(self, answer: dict | list) -> list[Row]:
        answers = answer if isinstance(answer, list) else [answer]
        ordered = sorted(answers, key=lambda one: one.get("index", 0))
        return [self._row(one["completion_probabilities"][0]) for one in ordered]

    def _row(self, told: dict) -> Row:
        return Row(int(told["id"]), {int(entry["id"]): entry["logprob"] for entry in told["top_logprobs"]})


DIALECTS: dict[str, Dialect] = {"vllm": VLLM(), "sglang": SGLang(), "llamacpp": LlamaCpp()}
"""By what the engine calls itself in `owned_by` of `/v1/models`."""


@dataclass(frozen=True)
class Served:
    """A server that was asked who it is: its dialect and the model it serves."""

    dialect: Dialect
    model: str


def discover(client: Client, model: str | None) -> Served:
    """Ask `/v1/models` which engine this is and what it serves; ``model``: the one wanted (None: the first)."""
    told = client.get("/v1/models")
    cards = told.get("data") if isinstance(told, dict) else None
    cards = [card for card in cards if isinstance(card, dict) and "id" in card] if isinstance(cards, list) else []
    if not cards:
        raise ServedError(f"{client.url}: /v1/models names no model; is this a vLLM, SGLang or llama.cpp server?")
    names = [str(card["id"]) for card in cards]
    if model is not None and model not in names:
        raise ServedError(f"{client.url}: model {model!r} is not served here, allowed is {', '.join(names)}")
    card = cards[0 if model is None else names.index(model)]
    engine = str(card.get("owned_by"))
    if engine not in DIALECTS:
        raise ServedError(f"{client.url}: the engine calls itself {engine!r}, known are {', '.join(DIALECTS)}")
    return Served(DIALECTS[engine], str(card["id"]))


def _named(name: str) -> int:
    """17 for vLLM's "token_id:17"; ``ValueError`` for a text, which may stand for several ids."""
    head, _, number = name.partition(":")
    if head != "token_id":
        raise ValueError(name)
    return int(number)
