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
KEY = "s3cret-of-nobody"


def softmax_after(ids) -> np.ndarray:
    """[40] the known model: probabilities that depend on every id of the prompt."""
    seed = sum((place + 1) * token for place, token in enumerate(ids))
    logits = np.random.default_rng(seed).normal(size=VOCABULARY) * 2
    return np.exp(logits) / np.exp(logits).sum()


def most_probable(ids, count):
    """[(id, log-probability)] of the model, most probable first."""
    row = softmax_after(ids)
    return [(int(token), math.log(row[token])) for token in np.argsort(-row)[:count]]


def vllm(body):
    """As `/v1/completions` of vLLM answers with `return_tokens_as_token_ids`."""
    choices = []
    for index, ids in enumerate(body["prompt"]):
        top = most_probable(ids, body["logprobs"])
        names = {f"token_id:{token}": value for token, value in top}
        told = {"text_offset": [0], "token_logprobs": [top[0][1]], "tokens": [f"token_id:{top[0][0]}"], "top_logprobs": [names]}
        choices.append({"index": index, "text": "x", "logprobs": told, "finish_reason": "length", "stop_reason": None})
    return {"id": "cmpl-1", "object": "text_completion", "model": body["model"], "choices": choices[::-1]}


def sglang(body):
    """As `/generate` of SGLang answers: [log-probability, id, text]."""
    answers = []
    for ids in body["input_ids"]:
        top = [[value, token, None] for token, value in most_probable(ids, body["top_logprobs_num"])]
        meta = {"finish_reason": {"type": "length", "length": 1}, "prompt_tokens": len(ids), "completion_tokens": 1}
        meta |= {"output_token_logprobs": [top[0]], "output_top_logprobs": [top]}
        answers.append({"text": "x", "output_ids": [top[0][1]], "meta_info": meta})
    return answers


def llamacpp(body):
    """As `/completion` of llama.cpp answers without `post_sampling_probs`."""
    answers = []
    for index, ids in enumerate(body["prompt"]):
        top = [
            {"id": token, "token": "x", "bytes": [120], "logprob": value} for token, value in most_probable(ids, body["n_probs"])
        ]
        answers.append({"index": index, "content": "x", "completion_probabilities": [{**top[0], "top_logprobs": top}]})
    return answers


ENGINES = {"vllm": ("/v1/completions", vllm), "sglang": ("/generate", sglang), "llamacpp": ("/completion", llamacpp)}


@dataclass
class Fake:
    """What a fake server does, and what it was asked: `twist` changes an answer, `status` refuses, `delay` seconds wait."""

    engine: str
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
            return 200, {"object": "list", "data": [{"id": "tiny", "object": "model", "owned_by": self.engine}]}
        self.asked.append(body)
        time.sleep(self.delay)
        status = self.statuses.pop(0) if self.statuses else 200
        if status != 200:
            return status, {"error": {"message": "Requested sample logprobs of 50 is greater than max allowed: 20", "code": status}}
        place, make = ENGINES[self.engine]
        made = make(body) if path == place else {"error": "File Not Found"}
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
