"""A tiny target, a corpus that it wrote, and the features of that corpus."""

import pytest

from eagle_viz.engine.target import Target
from eagle_viz.training.corpus import Corpus
from eagle_viz.training.features import compute_features
from eagle_viz.training.sampler import Answer, sample_batch
from tests.engine.tiny import tiny_target


def tiny_corpus(target: Target, count: int = 24, limit: int = 12) -> Corpus:
    prompts = [target.encode_chat(f"w{4 + i} w{9 + i % 5} w{30 + i % 7}") for i in range(count)]
    temperatures = [(0.0, 0.7, 1.0)[i % 3] for i in range(count)]
    answers = sample_batch(target, prompts, temperatures, limit, seed=5)
    triples = zip(prompts, answers, temperatures, strict=True)
    return Corpus.of([Answer(tuple(p), tuple(a), t) for p, a, t in triples])


@pytest.fixture(scope="session")
def target() -> Target:
    return tiny_target()


@pytest.fixture(scope="session")
def corpus(target) -> Corpus:
    return tiny_corpus(target)


@pytest.fixture(scope="session")
def features(target, corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("features") / "features.bin"
    return compute_features(target, corpus, path, lambda stage, share: None).open()
