"""How long drafting a tree takes where the confidences are known, against the same logic written with ``torch.topk``.

The reference follows the order of work of EAGLE-2's published drafting (arXiv 2406.16858, section 4) in words of our own: log
probabilities of each layer's beam in, top k of every row, top k of the layer by cumulative sum, top N of everything, then mask,
position ids and retrieve table. Neither side runs a model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np
import torch

from eagle_viz.core.hashing import on_grid
from eagle_viz.core.landscape import Block, Candidates, Frontier, Landscape
from eagle_viz.core.policies import Eagle2
from eagle_viz.core.tree import Path

BUDGETS = (25, 59, 128)
VOCABULARIES = (10, 512, 32_000)
POLICY = Eagle2(top_k=10, max_depth=6)
EARLY = Eagle2(top_k=10, max_depth=6, early_stop=True)


@dataclass(frozen=True)
class TreeRow:
    """Median microseconds of one drafted tree with its buffers, ours and the reference's; ``ratio`` is reference / ours.

    ``early_us`` the same tree of ours with ``early_stop``, which makes ``early_passes`` draft passes instead of ``passes``.
    """

    budget: int
    vocabulary: int
    ours_us: float
    reference_us: float
    ratio: float
    early_us: float
    passes: int
    early_passes: int


class TableLandscape(Landscape):
    """A drafter whose answer depends on a node's level and rank alone: one table [ranks, vocabulary] of probabilities a level."""

    def __init__(self, tables: Sequence[np.ndarray], top_k: int) -> None:
        table = np.array(tables)
        self.tokens = np.argsort(-table, axis=-1, kind="stable")[..., :top_k]
        self.confidences = np.take_along_axis(table, self.tokens, axis=-1)

    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        places = [(len(path), path[-1] if path else 0) for path in paths]
        return [Candidates(self.tokens[place], self.confidences[place]) for place in places]

    def expand_block(self, frontier: Frontier, top_k: int | None = None) -> Block:
        """In columns, as a drafter has its numbers: no path is made."""
        confidences = self.confidences[frontier.level, :, :top_k].take(frontier.ranks, axis=0)
        tokens = self.tokens[frontier.level, :, :top_k].take(frontier.ranks, axis=0)
        return Block(confidences.ravel(), tokens.ravel(), tokens.shape[1])


class AnsweredLandscape(Landscape):
    """A landscape asked for one drafting only: its answer to each draft pass is kept, so that asking again costs nothing."""

    def __init__(self, asked: Landscape) -> None:
        self.asked = asked
        self.answers: dict[int, Block] = {}

    def _expand(self, paths: Sequence[Path]) -> list[Candidates]:
        return self.asked.expand(paths)

    def expand_block(self, frontier: Frontier, top_k: int | None = None) -> Block:
        """The frontier of each level is always the same one, so the level names the answer."""
        if frontier.level not in self.answers:
            self.answers[frontier.level] = self.asked.expand_block(frontier, top_k)
        return self.answers[frontier.level]


def random_tables(vocabulary: int, seed: int = 0, policy: Eagle2 = POLICY) -> list[np.ndarray]:
    """A table a level, softmax of normal logits, rounded as every confidence is."""
    draw = np.random.default_rng(seed)
    weights = np.exp(2.5 * draw.standard_normal((policy.max_depth, policy.top_k, vocabulary)))
    return list(on_grid(weights / weights.sum(axis=-1, keepdims=True)))


@dataclass(frozen=True)
class ReferenceTree:
    """The reference's buffers, nodes level by level as they were scored, the root first."""

    tokens: torch.Tensor
    parents: torch.Tensor
    mask: torch.Tensor
    position_ids: torch.Tensor
    retrieve_indices: torch.Tensor


Answer = Callable[[int, torch.Tensor], torch.Tensor]
"""Log probabilities [beam, vocabulary] of the beam of a level, given the ranks of its nodes."""


def answer_from(tables: Sequence[torch.Tensor]) -> Answer:
    """The drafter of these log-probability tables."""
    return lambda level, ranks: tables[level][ranks]


def replayed(answer: Answer, policy: Eagle2, budget: int) -> Answer:
    """The same answers, made ahead, so that looking them up costs nothing."""
    made: list[torch.Tensor] = []

    def keep(level: int, ranks: torch.Tensor) -> torch.Tensor:
        made.append(answer(level, ranks))
        return made[-1]

    reference_tree(keep, policy, budget)
    return lambda level, ranks: made[level]


def reference_tree(answer: Answer, policy: Eagle2, budget: int) -> ReferenceTree:
    """Draft one tree with ``torch.topk``; node 0 is the root."""
    k, root = policy.top_k, torch.zeros(1, dtype=torch.long)
    above, beam, ranks = root, root, root
    scores, tokens, parents, scored = [], [], [], 1
    for level in range(policy.max_depth):
        best = torch.topk(answer(level, ranks), k, dim=-1)
        layer = (best.values + above[:, None]).view(-1)
        scores.append(layer)
        tokens.append(best.indices.view(-1))
        parents.append(beam.repeat_interleave(k))
        chosen = torch.topk(layer, k, dim=-1)
        above, beam, ranks = chosen.values, chosen.indices + scored, chosen.indices % k
        scored += len(layer)
    kept = torch.topk(torch.cat(scores), budget, dim=-1).indices.sort().values
    above_kept = torch.cat(parents)[kept]
    numbers = torch.searchsorted(kept + 1, above_kept)
    numbers = torch.where(above_kept == 0, 0, numbers + 1)
    return with_buffers(torch.cat(tokens)[kept], numbers)


def with_buffers(tokens: torch.Tensor, parents: torch.Tensor) -> ReferenceTree:
    """Mask, position ids and retrieve table of nodes that come parents first; ``parents`` [nodes] count the root as 0."""
    size, ups = len(parents) + 1, parents.tolist()
    mask = torch.eye(size, dtype=torch.bool)
    mask[:, 0] = True
    for node, parent in enumerate(ups, start=1):
        mask[node] |= mask[parent]
    positions = mask.sum(dim=1) - 1
    deepest, inner, rows = int(positions.max()), set(ups), []
    for leaf in range(1, size):
        if leaf not in inner:
            way = [leaf]
            while way[-1]:
                way.append(ups[way[-1] - 1])
            rows.append(way[::-1] + [-1] * (deepest + 1 - len(way)))
    return ReferenceTree(tokens, parents, mask, positions, torch.tensor(rows, dtype=torch.long))


def bench_tree(budgets: Sequence[int] = BUDGETS, vocabularies: Sequence[int] = VOCABULARIES, repeats: int = 200) -> list[TreeRow]:
    """Time both sides in turn; the reference in float32, as engines run it, ours on candidates that are sorted already.

    Either side's answers are made ahead: what is timed is the drafting, not the drafter. At large vocabularies most of the
    reference's time is its top k over the vocabulary, which a landscape's drafter has done before: the smallest vocabulary
    compares the logic alone.
    """
    if repeats < 1:
        raise ValueError(f"repeats: {repeats} given, allowed is a whole number from 1")
    rows = []
    for vocabulary in vocabularies:
        tables = random_tables(vocabulary)
        landscape = AnsweredLandscape(TableLandscape(tables, POLICY.top_k))
        logarithms = [torch.tensor(table).clamp_min(1e-30).log().float() for table in tables]
        for budget in budgets:
            answer = replayed(answer_from(logarithms), POLICY, budget)
            reference_once = partial(reference_tree, answer, POLICY, budget)
            mine, early_once = partial(ours_once, landscape, budget), partial(ours_once, landscape, budget, EARLY)
            ours, reference, early = _medians((mine, reference_once, early_once), repeats)
            passes = (policy(landscape, budget).passes for policy in (POLICY, EARLY))
            rows.append(TreeRow(budget, vocabulary, ours, reference, reference / ours, early, *passes))
    return rows


def ours_once(landscape: Landscape, budget: int, policy: Eagle2 = POLICY) -> tuple[np.ndarray, ...]:
    """Our tree with the same buffers: tokens, parents, mask, position ids, retrieve table."""
    tree = policy(landscape, budget).tree
    return tree.tokens, tree.parents, tree.mask(), tree.position_ids(), tree.retrieve_indices()


def _medians(calls: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Median microseconds of each: called in turn, so that a busy moment hits all, and twice, so that none meets cold caches."""
    taken = np.zeros((repeats, len(calls)))
    for turn in taken:
        for place, call in enumerate(calls):
            call()
            began = perf_counter()
            call()
            turn[place] = (perf_counter() - began) * 1e6
    return np.median(taken, axis=0).tolist()
