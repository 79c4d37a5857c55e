"""The reference that our drafting is timed against drafts the same trees, and the bench reports what it measured."""

import json

import numpy as np
import pytest
import torch

from eagle_viz.commands import main
from eagle_viz.core.policies import Eagle2
from eagle_viz.engine.bench_tree import (
    EARLY,
    POLICY,
    TableLandscape,
    TreeRow,
    answer_from,
    bench_tree,
    random_tables,
    reference_tree,
    replayed,
)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("policy", "budget", "vocabulary"), [(POLICY, 59, 40), (POLICY, 128, 512), (Eagle2(4, 3), 12, 9)])
def test_the_reference_drafts_our_trees(policy, budget, vocabulary, seed):
    """Tokens of every kept path, and the buffers' sums; the order of nodes inside a level is each side's own."""
    tables = random_tables(vocabulary, seed, policy)
    tree = policy(TableLandscape(tables, policy.top_k), budget).tree
    answer = answer_from([torch.tensor(table).clamp_min(1e-300).log() for table in tables])
    made = reference_tree(replayed(answer, policy, budget), policy, budget)
    assert spoken([0, *made.parents.tolist()], made.tokens.tolist()) == spoken(tree.parents.tolist(), tree.tokens[1:].tolist())
    assert np.sort(made.mask.sum(1).numpy()).tolist() == np.sort(tree.mask().sum(1)).tolist()
    assert sorted(made.position_ids.tolist()) == sorted(tree.position_ids().tolist())
    assert made.retrieve_indices.shape == tree.retrieve_indices().shape


def spoken(parents, tokens):
    """Each node as the tokens on its path."""
    paths = [()]
    for parent, token in zip(parents[1:], tokens, strict=True):
        paths.append((*paths[parent], token))
    return set(paths)


def test_a_ratio_is_the_reference_over_ours():
    """Rows in the order asked, and times that were taken."""
    rows = bench_tree(budgets=(25,), vocabularies=(10, 64), repeats=3)
    assert [(row.budget, row.vocabulary) for row in rows] == [(25, 10), (25, 64)]
    assert all(row.ratio == row.reference_us / row.ours_us and row.ours_us > 0 for row in rows)


def test_the_command_prints_a_versioned_document(capsys):
    """Three budgets at three vocabularies, the keys that scripts rely on."""
    assert main(["bench", "tree", "--repeats", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["version"] == 1 and len(document["rows"]) == 9
    assert set(document["rows"][0]) == set(TreeRow.__dataclass_fields__)
    assert main(["bench", "tree", "--repeats", "0"]) == 2


def test_early_stop_makes_the_same_tree_in_the_passes_that_are_reported():
    """The row's passes are those of the two policies, and never more with early stop."""
    (row,) = bench_tree(budgets=(25,), vocabularies=(10,), repeats=1)
    landscape = TableLandscape(random_tables(10), POLICY.top_k)
    whole, early = POLICY(landscape, 25), EARLY(landscape, 25)
    assert (row.passes, row.early_passes) == (whole.passes, early.passes) == (6, early.passes) and early.passes <= 6
    assert whole.tree.paths == early.tree.paths


@pytest.mark.speed
def test_early_stop_costs_less_than_the_passes_it_saves():
    """It costs under 0.1 ms a tree, drafting itself counted as free: a draft pass of the shipped head takes 6 ms."""
    for row in bench_tree(budgets=(25, 59), vocabularies=(10, 512)):
        assert row.early_us - row.ours_us < 100


@pytest.mark.speed
def test_one_tree_takes_less_than_the_reference():
    """At every budget and vocabulary, on quiet cores."""
    assert min(row.ratio for row in bench_tree()) > 1
