"""A served model as a landscape, against fake servers that speak the three engines' dialects."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from eagle_viz import POLICIES
from eagle_viz.engine.served import Cancelled, ServedError, ServedLandscape
from tests.engine.served.fake import ENGINES, KEY, serving, softmax_after

PROMPT = [3, 17, 5]
PATHS = [(), (0,), (2,), (1, 0), (0, 2, 1)]


def refused(fake, top_k=4, error=ServedError, **settings):
    """The sentence with which the first expansion fails."""
    with pytest.raises(error) as caught:
        ServedLandscape(fake.url, PROMPT, top_k, **settings).expand([()])
    return str(caught.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_confidences_are_the_servers_softmax_along_every_path(engine):
    """Ids and confidences equal the known model's largest probabilities, cut to float32."""
    with serving(engine) as fake:
        land = ServedLandscape(fake.url, PROMPT, top_k=4)
        found = land.expand(PATHS)
    assert land.root_token == 5
    for path, row in zip(PATHS, found, strict=True):
        words = [int(land.expand([path[:depth]])[0].tokens[rank]) for depth, rank in enumerate(path)]
        wanted = softmax_after([*PROMPT, *words])
        assert row.tokens.tolist() == np.argsort(-wanted)[:4].tolist()
        np.testing.assert_allclose(row.confidences, wanted[row.tokens], rtol=1e-6)
        assert row.target_probabilities.tolist() == row.confidences.tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_policies_draft_the_same_tree_whatever_the_engine(engine):
    """A tree drawn through any dialect equals the tree of the first."""
    trees = []
    for one in ("vllm", engine):
        with serving(one) as fake:
            trees.append(POLICIES["eagle2"](top_k=4, max_depth=3)(ServedLandscape(fake.url, PROMPT, top_k=4), budget=12).tree)
    assert trees[0].paths == trees[1].paths
    assert trees[0].values.tolist() == trees[1].values.tolist()


def test_a_frontier_is_one_request_and_is_asked_once():
    """The root, its children and theirs: three requests, none repeated."""
    with serving("vllm") as fake:
        land = ServedLandscape(fake.url, PROMPT, top_k=4)
        for _ in range(2):
            land.expand([(0, 1), (1, 1), (2, 0)])
        assert [len(body["prompt"]) for body in fake.asked] == [1, 3, 3]


def test_wide_frontiers_are_cut_and_progress_is_told():
    """Four paths in pieces of two: two requests, progress 2 of 4 and 4 of 4."""
    told = []
    with serving("sglang") as fake:
        land = ServedLandscape(fake.url, PROMPT, top_k=4, batch=2, report=lambda done, total: told.append((done, total)))
        land.expand([(0,), (1,), (2,), (3,)])
    assert told == [(1, 1), (2, 4), (4, 4)]


def test_no_server():
    with serving("vllm") as fake:
        url = fake.url
    with pytest.raises(ServedError, match="no server answers here"):
        ServedLandscape(url, PROMPT, retries=0)


def test_a_key_is_sent_and_never_shown(monkeypatch):
    """Without the key: one sentence naming the variable. A wrong key that the server repeats is not in the sentence."""
    with serving("vllm", key=KEY) as fake:
        monkeypatch.delenv("EAGLE_VIZ_API_KEY", raising=False)
        assert "(401); put the right one in EAGLE_VIZ_API_KEY" in refused(fake)
        monkeypatch.setenv("EAGLE_VIZ_API_KEY", "wrong-" + KEY)
        assert KEY not in refused(fake)
        monkeypatch.setenv("EAGLE_VIZ_API_KEY", KEY)
        land = ServedLandscape(fake.url, PROMPT, top_k=4)
        assert len(land.expand([()])[0]) == 4 and KEY not in repr(vars(land))


def test_a_refusal_that_repeats_the_key_is_told_without_it(monkeypatch):
    monkeypatch.setenv("EAGLE_VIZ_API_KEY", "sample")
    with serving("vllm", statuses=[400]) as fake:
        assert "Requested (key) logprobs of 50" in refused(fake)


def test_wrong_model():
    with serving("vllm") as fake:
        assert "model 'big' is not served here, allowed is /models/tiny.gguf" in refused(fake, model="big")


def test_unknown_engine():
    with serving("someone") as fake:
        assert "calls itself 'someone', known are vllm, sglang, llamacpp" in refused(fake)


def test_the_servers_own_limit_is_repeated():
    with serving("vllm", statuses=[400]) as fake:
        assert "answered 400: Requested sample logprobs of 50 is greater than max allowed: 20" in refused(fake)


def test_redirects_are_not_followed():
    with serving("vllm", statuses=[307]) as fake:
        assert "another address (307)" in refused(fake)


@pytest.mark.parametrize("engine", ENGINES)
def test_fewer_logprobs_than_asked(engine):
    """The vocabulary has 40 tokens: 41 cannot be told."""
    with serving(engine) as fake:
        assert "40 log-probabilities told, 41 asked; lower top_k" in refused(fake, top_k=41)


def test_ids_missing():
    """A vLLM that ignores return_tokens_as_token_ids names tokens by their texts."""

    def texts(answer):
        answer["choices"][0]["logprobs"]["tokens"] = [" Paris"]
        return answer

    with serving("vllm", twist=texts) as fake:
        assert "lacks token ids or log-probabilities" in refused(fake)


@pytest.mark.parametrize("broken", [{}, [], "text", {"choices": [{"index": 0, "logprobs": None}]}, {"choices": 7}])
def test_malformed_answers_are_one_sentence(broken):
    with serving("vllm", twist=lambda answer: broken) as fake:
        assert fake.url in refused(fake)


def test_a_server_that_samples():
    """The chosen token is the second most probable, although temperature 0 was asked."""

    def second(answer):
        told = answer[0]["meta_info"]
        told["output_token_logprobs"] = [told["output_top_logprobs"][0][1]]
        return answer

    with serving("sglang", twist=second) as fake:
        assert "samples instead of reporting" in refused(fake)


def test_probabilities_after_sampling_are_refused():
    """Log-probabilities that sum to more than 1 are no softmax."""

    def raised(answer):
        for entry in answer["completion_probabilities"][0]["top_logprobs"]:
            entry["logprob"] = 0.0
        return answer

    with serving("llamacpp", twist=raised) as fake:
        assert "sum to 4.000" in refused(fake)


def test_a_slow_server_is_left():
    with serving("vllm", delay=0.6) as fake:
        assert "no answer within 0.2 seconds" in refused(fake, timeout=0.2, retries=0)


def test_a_busy_server_is_asked_again():
    """503, then the answer: two requests, and the candidates arrive."""
    with serving("vllm", statuses=[503]) as fake:
        assert len(ServedLandscape(fake.url, PROMPT, top_k=4).expand([()])[0]) == 4
        assert len(fake.asked) == 2


def test_cancelling_stops_before_the_next_request():
    stop = threading.Event()
    with serving("vllm") as fake:
        land = ServedLandscape(fake.url, PROMPT, top_k=4, cancelled=stop.is_set)
        land.expand([()])
        stop.set()
        with pytest.raises(Cancelled):
            land.expand([(0,)])
        assert len(fake.asked) == 1


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "ftp://host", "http://key@host", "http://host/?api_key=abc", None])
def test_addresses_that_are_refused(url):
    with pytest.raises(ValueError, match="^url: ") as caught:
        ServedLandscape(url, PROMPT)
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize("prompt", [[], [-1], ["a"], [True]])
def test_prompts_that_are_refused(prompt):
    with pytest.raises(ValueError, match="^prompt: "):
        ServedLandscape("http://127.0.0.1:1", prompt)


def test_ranks_outside_are_refused():
    with serving("vllm") as fake, pytest.raises(ValueError, match="rank 4 given, allowed is 0 to 3"):
        ServedLandscape(fake.url, PROMPT, top_k=4).expand([(4,)])


def test_no_torch_is_loaded():
    check = "import eagle_viz.engine.served, sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", check], check=True)
