"""What a finished head's attention looks at and how its fed-back state grows: what `train` prints, along given answers."""

from collections.abc import Sequence

import torch

from eagle_viz.engine.checkpoint import HeadCheckpoint
from eagle_viz.engine.head import Head, head_shape
from eagle_viz.engine.llama import Llama
from eagle_viz.engine.target import Target
from eagle_viz.training.corpus import Corpus
from eagle_viz.training.data import make_batch
from eagle_viz.training.features import corpus_features
from eagle_viz.training.sampler import Answer
from eagle_viz.training.unrolled import Reading, UnrolledEagle, UnrolledEagle3, UnrolledHead


def head_readings(target: Target, head: Head, answers: Sequence[Answer], steps: int = 6) -> list[Reading]:
    """Attention and state of drafting steps 1 .. `steps` along these answers, all their rows together.

    A head whose largest weight is near 1 and whose entropy is near 0 looks at one row and cannot copy. Raises ValueError naming
    what the readings do not cover: another target than a plain Llama, or a head with embeddings of its own or without `fc.bias`.
    """
    checkpoint = head.checkpoint
    if not isinstance(target.body, Llama):
        raise ValueError("attention: it is read for plain Llama targets only")
    if "embed_tokens.weight" in checkpoint.tensors or not (checkpoint.is_eagle3 or "fc.bias" in checkpoint.tensors):
        raise ValueError(f"attention: it is not read for {checkpoint.source}, a head with embeddings of its own or without fc.bias")
    if not answers:
        raise ValueError("attention: no answer given, at least one is needed")
    corpus = Corpus.of(answers)
    batch = make_batch(target, corpus, corpus_features(target, corpus, taps=head.taps), range(len(corpus)))
    return _unrolled(checkpoint).readings(batch.embedded, batch.features, batch.rows, steps)


def _unrolled(checkpoint: HeadCheckpoint) -> UnrolledHead:
    kind = UnrolledEagle3 if checkpoint.is_eagle3 else UnrolledEagle
    weights = {name: tensor.to(torch.bfloat16) for name, tensor in checkpoint.tensors.items() if tensor.is_floating_point()}
    return kind(head_shape(checkpoint), weights)


def readings_sentence(readings: Sequence[Reading]) -> str:
    """The readings by step in one line: entropy in nats, largest weight, norm of the state.

    >>> readings_sentence([Reading(2.5, 0.4, 30.0), Reading(2.0, 0.5, 31.0)])
    'attention entropy 2.50 / 2.00, largest weight 0.40 / 0.50; state norm 30.00 / 31.00'
    """
    entropy, largest, norm = (
        " / ".join(f"{getattr(reading, field):.2f}" for reading in readings) for field in ("entropy", "largest", "norm")
    )
    return f"attention entropy {entropy}, largest weight {largest}; state norm {norm}"
