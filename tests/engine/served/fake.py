"""In-process servers that answer as vLLM, SGLang and llama.cpp do, over one small known model."""

import json
import math
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

VOCABULARY = 40
END = 2
KEY = "s3cret-of-nobody"


def softmax_after(ids, salt=0) -> np.ndarray:
    """[40] the known model: probabilities that depend on every id of the prompt; another ``salt`` is another model."""
    seed = salt + sum((place + 1) * int(token) for place, token in enumerate(ids))
    logits = np.random.default_rng(seed).normal(size=VOCABULARY) * 2
    return np.exp(logits) / np.exp(logits).sum()


def greedy_after(ids, count, salt=0) -> list[int]:
    """The model's own answer, one most probable token after another, up to its end token."""
    said: list[int] = []
    while len(said) < count and END not in said:
        said.append(int(np.argmax(softmax_after([*ids, *said], salt))))
    return said


def encode(text) -> list[int]:
    """A tokenizer that gives every character a token."""
    return [3 + ord(character) % (VOCABULARY - 3) for character in text]


def decode(tokens) -> str:
    """What tokens read as: numbered words."""
    return "".join(f" w{token}" for token in tokens)


@dataclass(frozen=True)
class Model:
    """What an engine serves: the known model of this ``salt``, its tokens ``shifted`` against the others' where it is not 0."""

    salt: int = 0
    shifted: int = 0
    tells_wanted: bool = True

    def top(self, ids, count):
        """[(id, log-probability)], most probable first."""
        row = softmax_after(ids, self.salt)
        return [(int(token), math.log(row[token])) for token in np.argsort(-row)[:count]]

    def wanted(self, ids, tokens):
        """[(id, log-probability)] of these tokens."""
        row = softmax_after(ids, self.salt)
        return [(token, math.log(row[token])) for token in tokens]

    def encode(self, text):
        return [(token + self.shifted) % VOCABULARY for token in encode(text)]


def vllm(model, body):
    """As `/v1/completions` of vLLM answers with `return_tokens_as_token_ids`."""
    choices = []
    for index, ids in enumerate(body["prompt"]):
        said = greedy_after(ids, body["max_tokens"], model.salt)
        asked = body.get("logprob_token_ids") if model.tells_wanted else None
        told = []
        for place in range(len(said)):
            before = [*ids, *said[:place]]
            listed = model.top(before, body["logprobs"]) if asked is None else model.top(before, 1) + model.wanted(before, asked)
            told.append({f"token_id:{token}": value for token, value in listed})
        names = [f"token_id:{token}" for token in said]
        logprobs = {"text_offset": [0] * len(said), "tokens": names, "top_logprobs": told}
        finish = "stop" if said[-1] == END else "length"
        choices.append({"index": index, "text": decode(said), "logprobs": logprobs, "finish_reason": finish, "stop_reason": None})
    return {"id": "cmpl-1", "object": "text_completion", "model": body["model"], "choices": choices[::-1]}


def sglang(model, body):
    """As `/generate` of SGLang answers: [log-probability, id, text]."""
    answers = []
    for index, ids in enumerate(body["input_ids"]):
        said = greedy_after(ids, body["sampling_params"]["max_new_tokens"], model.salt)
        top = [[value, token, None] for token, value in model.top(ids, body.get("top_logprobs_num", 1))]
        finish = {"type": "stop", "matched": END} if said[-1] == END else {"type": "length", "length": len(said)}
        meta = {"finish_reason": finish, "prompt_tokens": len(ids), "completion_tokens": len(said)}
        meta |= {"output_token_logprobs": top[:1], "output_top_logprobs": [top]}
        if "token_ids_logprob" in body and model.tells_wanted:
            asked = body["token_ids_logprob"][index]
            meta["output_token_ids_logprobs"] = [[[value, token, None] for token, value in model.wanted(ids, asked)]]
        answers.append({"text": decode(said), "output_ids": said, "meta_info": meta})
    return answers


def llamacpp(model, body):
    """As `/completion` of llama.cpp answers without `post_sampling_probs`."""
    answers = []
    for index, ids in enumerate(body["prompt"]):
        said = greedy_after(ids, body["n_predict"], model.salt)
        count = body.get("n_probs", 1) if model.tells_wanted else min(body.get("n_probs", 1), 10)
        top = [{"id": token, "token": "x", "bytes": [120], "logprob": value} for token, value in model.top(ids, count)]
        told = {"index": index, "content": decode(said), "tokens": said if body.get("return_tokens") else []}
        told |= {"stop": True, "stop_type": "eos" if said[-1] == END else "limit"}
        answers.append({**told, "completion_probabilities": [{**top[0], "top_logprobs": top}]})
    return answers if len(answers) > 1 else answers[0]


def _chat(messages):
    """The chat template of all fakes."""
    return "".join(f"{message['role']}:{message['content']};" for message in messages) + "bot:"


def vllm_tokens(model, body):
    """`/tokenize` of vLLM: of a text, or of a chat in its template."""
    tokens = model.encode(_chat(body["messages"]) if "messages" in body else body["prompt"])
    return {"count": len(tokens), "max_model_len": 512, "tokens": tokens, "token_strs": None}


PLACES = {
    "vllm": {
        "/v1/completions": vllm,
        "/tokenize": vllm_tokens,
        "/detokenize": lambda model, body: {"prompt": decode(body["tokens"])},
    },
    "sglang": {
        "/generate": sglang,
        "/v1/tokenize": lambda model, body: {"tokens": model.encode(body["prompt"]), "count": 1, "max_model_len": 512},
        "/v1/detokenize": lambda model, body: {"text": decode(body["tokens"])},
    },
    "llamacpp": {
        "/completion": llamacpp,
        "/apply-template": lambda model, body: {"prompt": _chat(body["messages"])},
        "/tokenize": lambda model, body: {"tokens": model.encode(body["content"])},
        "/detokenize": lambda model, body: {"content": decode(body["tokens"])},
    },
}
ENGINES = tuple(PLACES)


@dataclass
class Fake:
    """What a fake server does, and what it was asked: `twist` changes an answer, `status` refuses, `delay` seconds wait."""

    engine: str
    model: Model = Model()
    twist: object = None
    statuses: list = field(default_factory=list)
    delay: float = 0.0
    key: str | None = None
    asked: list = field(default_factory=list)
    url: str = ""

    def answer(self, path, body, key):
        if self.key and key != f"Bearer {self.key}":
            return 401, {"error": {"message": f"Unauthorized {key}"}}
        if path == "/v1/models":
            card = {"id": f"/models/tiny{self.model.salt or ''}.gguf", "object": "model", "owned_by": self.engine}
            return 200, {"object": "list", "data": [card]}
        self.asked.append(body)
        time.sleep(self.delay)
        status = self.statuses.pop(0) if self.statuses else 200
        if status != 200:
            return status, {"error": {"message": "Requested sample logprobs of 50 is greater than max allowed: 20", "code": status}}
        if path not in PLACES[self.engine]:
            return 404, {"error": {"message": "Not Found"}}
        made = PLACES[self.engine][path](self.model, body)
        return 200, self.twist(made) if self.twist else made


@contextmanager
def serving(engine, **settings):
    """A fake server on 127.0.0.1 while the block runs."""
    fake = Fake(engine, **settings)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.reply(None)

        def do_POST(self):
            self.reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def reply(self, body):
            status, made = fake.answer(self.path, body, self.headers.get("Authorization"))
            text = json.dumps(made).encode()
            self.send_response(status)
            if status in (302, 307):
                self.send_header("Location", "http://127.0.0.2:1/elsewhere")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            try:
                self.wfile.write(text)
            except OSError:
                return  # the asker has stopped waiting, as a test of time limits wants

        def log_message(self, *arguments):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
