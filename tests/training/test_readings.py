"""A finished head's attention and state, read along answers: as training reads them, and refused where they cannot be."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from eagle_viz.engine.head import Head, head_shape, random_eagle3_checkpoint
from eagle_viz.training.data import make_batch
from eagle_viz.training.features import corpus_features
from eagle_viz.training.readings import head_readings
from eagle_viz.training.unrolled import UnrolledEagle


def test_readings_along_answers_are_those_of_the_layer_in_training(target, corpus):
    """One batch of all answers through the unrolled layer gives the same numbers."""
    head, answers = Head.random(target, draft_vocabulary=48), list(corpus.answers())[:4]
    found = head_readings(target, head, answers, steps=3)
    few = type(corpus).of(answers)
    batch = make_batch(target, few, corpus_features(target, few), np.arange(4))
    weights = {name: t.bfloat16() for name, t in head.checkpoint.tensors.items() if t.is_floating_point()}
    wanted = UnrolledEagle(head_shape(head.checkpoint), weights).readings(batch.embedded, batch.features, batch.rows, 3)
    assert found == wanted and len(found) == 3
    assert all(one.entropy > 0 and 0 < one.largest < 1 and one.norm > 0 for one in found)


def test_attention_on_one_row_shows(target, corpus):
    """With queries and keys a hundred times as large every head reads one row: no entropy, a largest weight of almost 1."""
    head = Head(random_eagle3_checkpoint(target, torch.arange(40), seed=0), target)
    names = [f"midlayer.self_attn.{name}_proj.weight" for name in "qk"]
    sharp = dict(head.checkpoint.tensors) | {name: 100 * head.checkpoint.tensors[name] for name in names}
    answers = list(corpus.answers())[:3]
    plain, dead = (head_readings(target, one, answers) for one in (head, Head(replace(head.checkpoint, tensors=sharp), target)))
    assert dead[0].largest > 0.95 > plain[0].largest and dead[0].entropy < 0.1 < plain[0].entropy


def test_what_is_not_read_is_said(target, corpus):
    """A head with embeddings of its own, and no answer at all, are one sentence each."""
    head = Head.random(target, draft_vocabulary=48)
    own = replace(head.checkpoint, tensors=dict(head.checkpoint.tensors) | {"embed_tokens.weight": target.embeddings.float()})
    with pytest.raises(ValueError, match="attention: it is not read for"):
        head_readings(target, Head(own, target), list(corpus.answers())[:1])
    with pytest.raises(ValueError, match="attention: no answer given"):
        head_readings(target, head, [])
