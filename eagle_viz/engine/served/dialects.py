"""What each engine is asked and how it answers, in token ids: what follows a prompt, its text, a whole greedy answer.

Sources: vLLM `entrypoints/openai/completion/` (up to k + 1 log-probabilities named "token_id:17"; `logprob_token_ids`) and
`entrypoints/serve/tokenize/`; SGLang `srt/managers/tokenizer_manager.py` (`detokenize_logprob_tokens`: [log-probability, id,
text]), `srt/managers/io_struct.py` (`token_ids_logprob`) and `srt/entrypoints/openai/` (`owned_by`, `serving_tokenize.py`);
llama.cpp's answers as its server gave them (`completion_probabilities`, `/apply-template`, `/tokenize`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from .client import ServedError

Prompts = Sequence[Sequence[int]]
Ask = Callable[[str, dict], dict | list]
"""Posts a body to a place of the server and gives back the JSON."""
Messages = Sequence[Mapping[str, str]]
"""Turns of a chat, each with `role` and `content`."""
BROKEN = (KeyError, IndexError, TypeError, ValueError, AttributeError)
"""What a dialect raises for an answer that does not tell what was asked."""


class Row(NamedTuple):
    """What follows one prompt: the token that the server chose (None: not told), and token id -> log-probability."""

    chosen: int | None
    logprobs: dict[int, float]


class Answer(NamedTuple):
    """A greedy answer: its token ids, and whether it ended by itself; the end token is then the last of them."""

    tokens: tuple[int, ...]
    ended: bool


class Dialect(ABC):
    """One engine's requests and answers; whatever an answer lacks is one of `BROKEN`."""

    name: str
    place: str
    priced_at_once: int | None = None
    """Prompts whose tokens are priced in one request; None: as many as are asked at all."""

    @abstractmethod
    def body(self, model: str, prompts: Prompts, top_k: int) -> dict:
        """The request: one new token a prompt, the most probable one, with ``top_k`` log-probabilities before sampling."""

    @abstractmethod
    def rows(self, answer: dict | list) -> list[Row]:
        """The answer, in the order of the prompts."""

    @abstractmethod
    def pricing(self, model: str, prompts: Prompts, wanted: Prompts, all_of_them: bool) -> dict:
        """The request for the log-probabilities of ``wanted`` tokens after each prompt; ``all_of_them``: whatever it costs."""

    def prices(self, answer: dict | list) -> list[Mapping[int, float]]:
        """The answer to it: token id -> log-probability, in the order of the prompts; what is not told is left out."""
        return [row.logprobs for row in self.rows(answer)]

    @abstractmethod
    def greedy(self, ask: Ask, model: str, prompt: Sequence[int], limit: int) -> Answer:
        """The server's own greedy answer to a prompt, at most ``limit`` tokens."""

    @abstractmethod
    def encode(self, ask: Ask, model: str, text: str, special: bool) -> list[int]:
        """Token ids of a text; ``special``: behind the tokens that the tokenizer puts before every text."""

    @abstractmethod
    def encode_chat(self, ask: Ask, model: str, messages: Messages) -> list[int]:
        """Token ids of a chat in the model's chat template, up to where the answer begins."""

    @abstractmethod
    def decode(self, ask: Ask, model: str, tokens: Sequence[int]) -> str:
        """The text of token ids."""


class VLLM(Dialect):
    """`/v1/completions` with a list of id lists; tokens are priced prompt by prompt, since a request names one set of them."""

    name, place, priced_at_once = "vLLM", "/v1/completions", 1

    def body(self, model: str, prompts: Prompts, top_k: int) -> dict:
        return {**self._asked(model, prompts, 1), "logprobs": top_k}

    def _asked(self, model: str, prompts: Prompts, limit: int) -> dict:
        # A model's generation_config.json may penalise repetitions, which would change what is most probable.
        greedy = {"temperature": 0, "repetition_penalty": 1.0, "return_tokens_as_token_ids": True}
        return {"model": model, "prompt": [list(ids) for ids in prompts], "max_tokens": limit, **greedy}

    def rows(self, answer: dict | list) -> list[Row]:
        return [self._row(choice["logprobs"]) for choice in sorted(answer["choices"], key=lambda choice: choice["index"])]

    def _row(self, told: dict) -> Row:
        return Row(_named(told["tokens"][0]), {_named(name): value for name, value in told["top_logprobs"][0].items()})

    def pricing(self, model: str, prompts: Prompts, wanted: Prompts, all_of_them: bool) -> dict:
        asked = [int(token) for token in wanted[0]]
        return {**self._asked(model, prompts, 1), "logprobs": len(asked), "logprob_token_ids": asked}

    def greedy(self, ask: Ask, model: str, prompt: Sequence[int], limit: int) -> Answer:
        choice = ask(self.place, {**self._asked(model, [prompt], limit), "logprobs": 1})["choices"][0]
        return Answer(tuple(map(_named, choice["logprobs"]["tokens"])), choice["finish_reason"] == "stop")

    def encode(self, ask: Ask, model: str, text: str, special: bool) -> list[int]:
        return _ids(ask("/tokenize", {"model": model, "prompt": text, "add_special_tokens": special})["tokens"])

    def encode_chat(self, ask: Ask, model: str, messages: Messages) -> list[int]:
        return _ids(ask("/tokenize", {"model": model, "messages": list(messages), "add_generation_prompt": True})["tokens"])

    def decode(self, ask: Ask, model: str, tokens: Sequence[int]) -> str:
        return _text(ask("/detokenize", {"model": model, "tokens": list(tokens)})["prompt"])


class SGLang(Dialect):
    """`/generate` with a list of id lists."""

    name, place = "SGLang", "/generate"

    def body(self, model: str, prompts: Prompts, top_k: int) -> dict:
        return {**self._asked(prompts, 1), "return_logprob": True, "top_logprobs_num": top_k}

    def _asked(self, prompts: Prompts, limit: int) -> dict:
        sampling = {"temperature": 0, "repetition_penalty": 1.0, "max_new_tokens": limit}
        return {"input_ids": [list(ids) for ids in prompts], "sampling_params": sampling}

    def rows(self, answer: dict | list) -> list[Row]:
        return [self._row(one["meta_info"]) for one in _listed(answer)]

    def _row(self, told: dict) -> Row:
        chosen = told["output_token_logprobs"][0][1]
        return Row(int(chosen), _by_id(told["output_top_logprobs"][0]))

    def pricing(self, model: str, prompts: Prompts, wanted: Prompts, all_of_them: bool) -> dict:
        asked = [[int(token) for token in row] for row in wanted]
        return {**self._asked(prompts, 1), "return_logprob": True, "token_ids_logprob": asked}

    def prices(self, answer: dict | list) -> list[Mapping[int, float]]:
        return [_by_id(one["meta_info"]["output_token_ids_logprobs"][0]) for one in _listed(answer)]

    def greedy(self, ask: Ask, model: str, prompt: Sequence[int], limit: int) -> Answer:
        (told,) = _listed(ask(self.place, self._asked([prompt], limit)))
        return Answer(tuple(_ids(told["output_ids"])), told["meta_info"]["finish_reason"]["type"] == "stop")

    def encode(self, ask: Ask, model: str, text: str, special: bool) -> list[int]:
        return _ids(ask("/v1/tokenize", {"model": model, "prompt": text, "add_special_tokens": special})["tokens"])

    def encode_chat(self, ask: Ask, model: str, messages: Messages) -> list[int]:
        raise ServedError(
            "SGLang does not tell the tokens of a chat: write the chat template into the text and give it as a raw prompt"
        )

    def decode(self, ask: Ask, model: str, tokens: Sequence[int]) -> str:
        return _text(ask("/v1/detokenize", {"model": model, "tokens": list(tokens), "skip_special_tokens": False})["text"])


class LlamaCpp(Dialect):
    """`/completion` with a list of id lists; without `post_sampling_probs` it tells the plain softmax, whatever is sampled.

    It tells nothing where the sampled token ends within a character, so a grammar has it sample an "a". It prices no named
    tokens: they are looked for among the 512 most probable, and then among all of the vocabulary.
    """

    name, place = "llama.cpp", "/completion"

    def body(self, model: str, prompts: Prompts, top_k: int) -> dict:
        told = {"n_probs": top_k, "post_sampling_probs": False, "grammar": 'root ::= "a"'}
        return {**self._asked(model, prompts, 1), **told}

    def _asked(self, model: str, prompts: Prompts, limit: int) -> dict:
        sampling = {"n_predict": limit, "temperature": 0, "repeat_penalty": 1.0, "cache_prompt": True}
        return {"model": model, "prompt": [list(ids) for ids in prompts], **sampling}

    def rows(self, answer: dict | list) -> list[Row]:
        ordered = sorted(_listed(answer), key=lambda one: one.get("index", 0))
        return [self._row(one["completion_probabilities"][0]) for one in ordered]

    def _row(self, told: dict) -> Row:
        return Row(None, {int(entry["id"]): entry["logprob"] for entry in told["top_logprobs"]})

    def pricing(self, model: str, prompts: Prompts, wanted: Prompts, all_of_them: bool) -> dict:
        return self.body(model, prompts, 2**20 if all_of_them else 512)

    def greedy(self, ask: Ask, model: str, prompt: Sequence[int], limit: int) -> Answer:
        (told,) = _listed(ask(self.place, {**self._asked(model, [prompt], limit), "return_tokens": True}))
        return Answer(tuple(_ids(told["tokens"])), told["stop_type"] == "eos")

    def encode(self, ask: Ask, model: str, text: str, special: bool) -> list[int]:
        return _ids(ask("/tokenize", {"content": text, "add_special": special, "parse_special": True})["tokens"])

    def encode_chat(self, ask: Ask, model: str, messages: Messages) -> list[int]:
        return self.encode(ask, model, _text(ask("/apply-template", {"messages": list(messages)})["prompt"]), special=False)

    def decode(self, ask: Ask, model: str, tokens: Sequence[int]) -> str:
        return _text(ask("/detokenize", {"tokens": list(tokens)})["content"])


DIALECTS: dict[str, Dialect] = {"vllm": VLLM(), "sglang": SGLang(), "llamacpp": LlamaCpp()}
"""By what the engine calls itself in `owned_by` of `/v1/models`."""


def _named(name: str) -> int:
    """17 for vLLM's "token_id:17"; ``ValueError`` for a text, which may stand for several ids."""
    head, _, number = name.partition(":")
    if head != "token_id":
        raise ValueError(name)
    return int(number)


def _listed(answer: dict | list) -> list:
    """A list of answers, also where a single prompt is answered without one."""
    return answer if isinstance(answer, list) else [answer]


def _by_id(entries: Sequence[Sequence]) -> dict[int, float]:
    return {int(entry[1]): entry[0] for entry in entries}


def _ids(tokens: Sequence[int]) -> list[int]:
    if not all(isinstance(token, int) and token >= 0 for token in tokens):
        raise ValueError("not token ids")
    return list(tokens)


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError("not a text")
    return text
