"""A drafter's landscape against plain forwards along every path."""

import numpy as np
import pytest
import torch

from eagle_viz import POLICIES, NotRecordedError
from eagle_viz.engine.drafted import DraftedLandscape, HeadDrafter, OracleDrafter, Scored, exact, most_probable, tree_mask
from eagle_viz.engine.head import Head
from eagle_viz.engine.reader import Reader

PROMPT = [2, 17, 40, 5, 66, 1, 3]
ROOT_TOKEN = 12
PATHS = [(), (0,), (1,), (2,), (0, 0), (1, 3), (0, 0, 1), (2, 1), (0, 0, 1, 0)]


@pytest.fixture(scope="module")
def head(tiny_target):
    return Head.random(tiny_target, draft_vocabulary=40)


def reader(target, drafter):
    found = Reader(target, drafter, PROMPT, grow=20, depth=8)
    found.start(ROOT_TOKEN)
    return found


def words(landscape, path):
    """The drafted tokens along a path."""
    return [int(landscape.expand([path[:depth]])[0].tokens[path[depth]]) for depth in range(len(path))]


def test_the_oracles_confidences_are_the_targets_softmax_along_every_path(tiny_target, hf_llama):
    landscape = reader(tiny_target, OracleDrafter(tiny_target)).landscape()
    for path, found in zip(PATHS, landscape.expand(PATHS), strict=True):
        with torch.no_grad():
            logits = hf_llama(torch.tensor([[*PROMPT, ROOT_TOKEN, *words(landscape, path)]])).logits[0, -1]
        wanted = logits.double().softmax(0)
        np.testing.assert_allclose(found.confidences, wanted[found.tokens].numpy(), atol=2e-5)
        assert found.confidences[0] == pytest.approx(float(wanted.max()), abs=2e-5)
        np.testing.assert_array_equal(found.target_probabilities, found.confidences)


def test_the_heads_confidences_equal_its_plain_forward_along_every_path(tiny_target, head):
    """Each path drafted alone, row by row, in a cache of its own."""
    landscape = reader(tiny_target, HeadDrafter(head)).landscape()
    features = tiny_target.forward(PROMPT).features
    for path, found in zip(PATHS, landscape.expand(PATHS), strict=True):
        cache = head.new_cache(64)
        guess = head.forward([*PROMPT[1:], ROOT_TOKEN], features, cache=cache)[-1:]
        for token in words(landscape, path):
            guess = head.forward([token], guess, cache=cache)
        alone = head.candidates(guess, 10, [len(path) + 1])
        assert found.tokens.tolist() == alone.tokens[0].tolist()
        np.testing.assert_allclose(found.confidences, alone.confidences[0].numpy(), atol=1e-5)
        assert found.target_probabilities is None


def test_the_head_reads_what_was_accepted_since_the_last_root(tiny_target, head):
    """After a text has grown, root candidates equal those of a head that reads the whole text at once."""
    drafter = HeadDrafter(head)
    grown = reader(tiny_target, drafter)
    before = grown.landscape()
    before.expand(PATHS)
    before.close()
    more = [33, 8, 71]
    grown.extend(more)
    text = [*PROMPT, ROOT_TOKEN, *more]
    guess = head.forward(text[1:], tiny_target.forward(text[:-1]).features)[-1:]
    wanted = head.candidates(guess, 10, [1])
    found = grown.landscape().expand([()])[0]
    assert found.tokens.tolist() == wanted.tokens[0].tolist()
    np.testing.assert_allclose(found.confidences, wanted.confidences[0].numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", ["oracle", "head"])
def test_the_order_of_asking_does_not_matter(kind, tiny_target, head):
    drafter = OracleDrafter(tiny_target) if kind == "oracle" else HeadDrafter(head)
    one = reader(tiny_target, drafter).landscape()
    first = dict(zip(PATHS, one.expand(PATHS), strict=True))
    one.close()
    other = reader(tiny_target, drafter).landscape()
    for path in PATHS[::-1]:
        found = other.expand([path])[0]
        assert found.tokens.tolist() == first[path].tokens.tolist()
        np.testing.assert_allclose(found.confidences, first[path].confidences, atol=1e-5)


def test_a_frontier_costs_one_pass_and_rows_are_reused(tiny_target, head):
    landscape = reader(tiny_target, HeadDrafter(head)).landscape()
    draft = POLICIES["eagle2"](top_k=4, max_depth=5)(landscape, 20)
    assert landscape.passes == draft.passes == 5
    POLICIES["chain"]()(landscape, 3)
    assert landscape.passes == 5
    assert list(landscape.expanded) == sorted(landscape.expanded, key=len)


def test_a_closed_landscape_knows_what_it_drafted_and_says_what_it_does_not(tiny_target, head):
    text = reader(tiny_target, HeadDrafter(head))
    landscape = text.landscape()
    known = landscape.expand([(0,)])[0]
    landscape.close()
    landscape.close()
    assert landscape.expand([(0,)])[0] is known
    with pytest.raises(NotRecordedError, match="path 3: the text has moved on"):
        landscape.expand([(3,)])


def test_a_rank_that_is_not_there_is_named(tiny_target, head):
    with pytest.raises(ValueError, match="rank 10 given, allowed is 0 to 9"):
        reader(tiny_target, HeadDrafter(head)).landscape().expand([(10,)])


def test_confidences_survive_float32_and_never_sum_above_one():
    rng = np.random.default_rng(0)
    rows = -np.sort(-rng.dirichlet(np.full(10, 0.3), size=500), axis=1)
    found = exact(rows)
    assert (found.sum(axis=1) <= 1).all() and (np.diff(found, axis=1) <= 0).all()
    np.testing.assert_array_equal(exact(found.astype(np.float32)), found)
    np.testing.assert_allclose(found, rows, atol=1e-7)


def test_ties_go_to_the_smaller_token():
    found = most_probable(torch.tensor([[0.0, 1.0, 1.0, 0.0]]), 4)
    assert found.tokens.tolist() == [[1, 2, 0, 3]]


def test_the_mask_shows_ancestors_and_oneself():
    assert tree_mask([(0,), (0, 2)], filled=3).int().tolist() == [[1, 0, 0, 1, 0], [1, 0, 1, 0, 1]]


def test_any_frontier_pass_will_do():
    """The seam is one call: a hand-made drafter that always says the same."""

    class Same:
        def __call__(self, tokens, ancestors, depth):
            return Scored(np.tile([[7, 9]], (len(tokens), 1)), np.tile([[0.5, 0.25]], (len(tokens), 1)))

        def close(self):
            pass

    tree = POLICIES["best_first"]()(DraftedLandscape(5, Same()), 6).tree
    assert tree.expected_accepted == 0.5 + 0.25 + 0.25 + 0.125 * 3 and tree.tokens[0] == 5
