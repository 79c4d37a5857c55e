"""Landscapes and traces that the stage's browser tests look at, in the page and in the offline player alike."""

from __future__ import annotations

import numpy as np

from eagle_viz import POLICIES, RecordedLandscape, SyntheticLandscape
from eagle_viz.core.landscape import Candidates
from eagle_viz.stage.trace import build_trace

WORDS = "the of and a to in is that it was for on are with as at be this have from or one had by but what we can\n out".split(" ")


class Wordy(SyntheticLandscape):
    """A synthetic landscape whose nodes read as words, most with the space before them, as a real tokenizer's do."""

    def _expand(self, paths):
        plain = super()._expand(paths)
        tokens = [np.arange(self.branching) + 7 * sum(path) + 3 * len(path) for path in paths]
        return [Candidates(token % len(WORDS), row.confidences) for token, row in zip(tokens, plain, strict=True)]

    def token_text(self, token):
        return " The" if token < 0 else (" " if token % 5 else "") + WORDS[token]


def spoken():
    """Two levels of hostile and invisible tokens."""
    texts = {4: " said", 5: " the", 6: "\n", 7: "<img src=x onerror=alert(1)>", 8: " incomprehensibilities", 9: "<b>bold</b>"}
    empty = Candidates(np.array([], dtype=int), np.array([]))
    table = {
        (): Candidates(np.array([5, 6, 7]), np.array([0.6, 0.2, 0.1])),
        (0,): Candidates(np.array([8, 9]), np.array([0.5, 0.25])),
        (1,): Candidates(np.array([5]), np.array([0.75])),
    }
    leaves = {path: empty for path in ((2,), (0, 0), (0, 1), (1, 0))}
    return RecordedLandscape(table | leaves, root_token=4, texts=texts, average=((0.5, 0.2, 0.1),)), (5, 9, 6)


def policy(name):
    return POLICIES[name](max_depth=12) if name == "eagle2" else POLICIES[name]()


def trace_of(source="synthetic", seed=11, sharpness=2.5, static="eagle1", dynamic="eagle2", **options):
    """The trace of a query: source "synthetic", "words" (with tokens) or "real" (tiny, hostile tokens, a recorded verdict)."""
    made = {"seed": seed, "sharpness": sharpness}
    landscape = Wordy(**made, branching=8) if source == "words" else SyntheticLandscape(**made)
    continuation = None
    if source == "real":
        landscape, continuation = spoken()
    label = f"seed {seed}, sharpness {sharpness:g}"
    return build_trace(landscape, policy(static), policy(dynamic), label=label, continuation=continuation, **options)
