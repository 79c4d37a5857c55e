"""Recordings of served models: one that drafts for itself, and a small one that drafts for another."""

import logging
from dataclasses import replace

import httpx
import numpy as np
import pytest

from eagle_viz import POLICIES
from eagle_viz.core.recording import MAX_BUDGET, read, write
from eagle_viz.engine.expansion import expand_for
from eagle_viz.engine.prompts import Prompt
from eagle_viz.engine.served import Client, ServedError, ServedLandscape, ServedModel, record_served, same_vocabulary
from tests.engine.served.fake import END, ENGINES, KEY, Model, decode, encode, greedy_after, serving, softmax_after

ASKED = Prompt("one", "One", "fact", "a question", raw=True)
OTHER = Prompt("two", "Two", "list", "another", raw=True)
QUICK = {"expand": expand_for([POLICIES["eagle2"](top_k=3, max_depth=2)]), "holds": {"policies": ["EAGLE-2"]}}


def served(fake, **settings) -> ServedModel:
    return ServedModel.find(Client(fake.url, **settings))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_model_that_drafts_for_itself(engine, tmp_path):
    """The text is its own greedy answer, confidences are its softmax, the target's too, and every policy finds its nodes."""
    with serving(engine) as fake:
        (made,) = record_served(served(fake), None, [ASKED], max_new_tokens=8, contexts=2)
    found = read(write(made, tmp_path / "a.npz"))
    prompt = encode("a question")
    assert found.tokens == (*prompt, *greedy_after(prompt, 24)) and found.answer_length == 8
    assert (found.drafter, found.target, found.answer) == ("oracle", "tiny", decode(greedy_after(prompt, 8)))
    for cycle in found.cycles:
        for path, row in list(cycle.landscape.candidates.items())[:40]:
            words = [int(cycle.landscape.candidates[path[:depth]].tokens[rank]) for depth, rank in enumerate(path)]
            wanted = softmax_after([*found.tokens[: cycle.position + 1], *words])
            np.testing.assert_allclose(row.confidences, wanted[row.tokens], rtol=1e-6)
            assert row.target_probabilities.tolist() == row.confidences.tolist()
        for name in ("eagle1", "eagle2", "best_first", "max_sweep"):
            assert POLICIES[name]()(cycle.landscape, MAX_BUDGET).tree.budget == MAX_BUDGET


@pytest.mark.parametrize("engine", ENGINES)
def test_a_small_model_drafts_for_another(engine):
    """The text is the target's, the confidences the drafter's, with the target's own probabilities of the same tokens."""
    with serving("llamacpp", model=Model(salt=1)) as small, serving(engine) as large:
        (made,) = record_served(served(small), served(large), [ASKED], max_new_tokens=6, **QUICK)
    assert (made.drafter, made.target) == ("tiny1", "tiny")
    assert list(made.tokens[made.prompt_length :]) == greedy_after(encode("a question"), 22)
    for cycle in made.cycles:
        context = made.tokens[: cycle.position + 1]
        row = cycle.landscape.candidates[()]
        np.testing.assert_allclose(row.confidences, softmax_after(context, salt=1)[row.tokens], rtol=1e-6)
        np.testing.assert_allclose(row.target_probabilities, softmax_after(context)[row.tokens], rtol=1e-6)


def test_live_verdicts_are_what_a_replay_gives_and_roots_follow_them():
    """Each root lies one pass of the leading policy behind the one before: its accepted tokens and the bonus."""
    with serving("vllm", model=Model(salt=1)) as small, serving("vllm") as large:
        wide = expand_for([POLICIES["eagle2"](max_depth=12)])
        told = []
        (made,) = record_served(served(small), served(large), [ASKED], max_new_tokens=12, expand=wide, report=told.append)
    assert all(now.done <= now.total for now in told) and {now.step for now in told} == {"generate", "record"}
    positions = [cycle.position for cycle in made.cycles]
    for cycle, after in zip(made.cycles, positions[1:], strict=False):
        leader = cycle.verdicts[0]
        tree = POLICIES["eagle2"](max_depth=12)(cycle.landscape, leader.budget).tree
        verdict = cycle.verdict(tree)
        assert len(verdict.accepted) == leader.accept_length == after - cycle.position - 1
    assert positions[0] == made.prompt_length


def test_the_average_is_taken_over_the_other_recording():
    """Two prompts: each recording carries the other's average, and best_static finds all its nodes."""
    with serving("sglang") as fake:
        made = record_served(served(fake), None, [ASKED, OTHER], max_new_tokens=5, contexts=1)
    first, second = made
    roots = [cycle.landscape.candidates[()].confidences for cycle in second.cycles]
    np.testing.assert_allclose(first.average[0], np.mean(roots, axis=0), atol=1e-9)
    assert POLICIES["best_static"]()(first.cycles[0].landscape, 100).tree.budget == 100


def test_an_answer_that_ends_is_recorded_to_its_end_token():
    """The end token is the answer's last and adds no text."""
    text = next(chr(97 + i) * 3 for i in range(26) if 3 <= len(greedy_after(encode(chr(97 + i) * 3), 60)) < 60)
    wanted = greedy_after(encode(text), 60)
    assert wanted[-1] == END
    with serving("llamacpp") as fake:
        (made,) = record_served(served(fake), None, [replace(ASKED, text=text)], max_new_tokens=60, contexts=1, **QUICK)
    assert list(made.tokens[made.prompt_length :]) == wanted and made.answer == decode(wanted[:-1])


@pytest.mark.parametrize("engine", ["vllm", "llamacpp"])
def test_chats_are_put_into_the_servers_own_template(engine):
    with serving(engine) as fake:
        assert Prompt("a", "A", "fact", "hello", system="be kind").encode(served(fake)) == encode("system:be kind;user:hello;bot:")


def test_sglang_tells_no_chat():
    with serving("sglang") as fake, pytest.raises(ServedError, match="SGLang does not tell the tokens of a chat: .* raw prompt"):
        Prompt("a", "A", "fact", "hello").encode(served(fake))


def test_different_vocabularies_are_refused():
    with serving("vllm", model=Model(salt=1, shifted=1)) as small, serving("vllm") as large:
        with pytest.raises(ServedError, match="tiny1 and tiny have different vocabularies: one text is other tokens"):
            record_served(served(small), served(large), [ASKED])


def test_tokens_that_read_differently_are_refused():
    """The same ids for the same text are not enough: the tokens must read alike."""

    def upper(answer):
        return {key: value.upper() if isinstance(value, str) else value for key, value in answer.items()}

    with serving("vllm", twist=upper) as small, serving("llamacpp") as large:
        with pytest.raises(ServedError, match="token 3 reads ' W3' to the drafter and ' w3' to the target"):
            same_vocabulary(served(small), served(large))


@pytest.mark.parametrize("engine", ["vllm", "llamacpp"])
def test_what_the_target_does_not_tell_is_unknown(engine):
    """A target that tells its ten most probable tokens alone: rows with another token have no target's probabilities."""
    with serving("vllm", model=Model(salt=1)) as small, serving(engine, model=Model(tells_wanted=False)) as large:
        land = ServedLandscape(served(small), [3, 17, 5], top_k=10, target=served(large))
        (row,) = land.expand([()])
        (alone,) = ServedLandscape(served(small), [3, 17, 5], top_k=1, target=served(large)).expand([()])
    assert row.target_probabilities is None
    told = int(alone.tokens[0]) in np.argsort(-softmax_after([3, 17, 5]))[:10]
    assert (alone.target_probabilities is not None) == told


def test_neither_key_reaches_the_other_server_a_log_or_a_recording(tmp_path, caplog, monkeypatch):
    """Each server is told its own key; files, logs and representations hold none, and nobody else is asked."""
    asked, send = [], httpx.Client.request

    def watched(self, method, url, **options):
        asked.append((str(url), options["headers"]["Authorization"]))
        return send(self, method, url, **options)

    monkeypatch.setattr(httpx.Client, "request", watched)
    caplog.set_level(logging.DEBUG)
    keys = [f"{KEY}-{i}" for i in range(2)]
    with serving("vllm", model=Model(salt=1), key=keys[0]) as small, serving("llamacpp", key=keys[1]) as large:
        pair = [served(fake, key=key) for fake, key in zip((small, large), keys, strict=True)]
        (made,) = record_served(*pair, [ASKED], max_new_tokens=4, contexts=1, **QUICK)
        addresses = (small.url, large.url)
    content = write(made, tmp_path / "a.npz").read_bytes()
    with np.load(tmp_path / "a.npz") as arrays:
        content += b"".join(arrays[name].tobytes() for name in arrays.files)
    assert KEY not in repr(pair) and KEY not in caplog.text and KEY.encode() not in content
    told = {(url.startswith(addresses[0]), key.removeprefix("Bearer ")) for url, key in asked}
    assert told == {(True, keys[0]), (False, keys[1])}
    assert all(url.startswith(addresses) for url, _ in asked)


@pytest.mark.parametrize("key", ["two words", "ü", "a\nb"])
def test_keys_that_no_header_can_hold_are_refused_unrepeated(key):
    with pytest.raises(ValueError, match="^key: ") as caught:
        Client("http://127.0.0.1:1", key=key)
    assert key not in str(caught.value)


def test_an_address_may_end_in_v1():
    """OpenAI's clients are given the address with /v1; it is the same server."""
    with serving("vllm") as fake:
        assert ServedModel.find(Client(fake.url + "/v1/")).title == "tiny"
