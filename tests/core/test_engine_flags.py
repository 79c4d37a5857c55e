"""Settings as engine flags: each engine's own counting and limits."""

import json
import re

import pytest

from eagle_viz import POLICIES, RankLandscape, SyntheticLandscape
from eagle_viz.core.engine_flags import chain_flags, engine_flags


def numbers(flags):
    return [int(found) for found in re.findall(r"[= ](\d+)", flags.text)]


def vllm_config(flags):
    return json.loads(re.fullmatch(r"--speculative-config '(.*)'", flags.text)[1])


def test_the_papers_setting_in_each_engines_counting():
    eagle, sglang, tensorrt, vllm = engine_flags(budget=59, top_k=10, max_depth=6)
    assert numbers(eagle) == [60, 5, 10]
    assert numbers(sglang) == [6, 10, 60]
    assert numbers(tensorrt) == [59, 6, 10]
    assert vllm_config(vllm)["num_speculative_tokens"] == 6
    assert [flags.change != "" for flags in (eagle, sglang, tensorrt, vllm)] == [False, False, False, True]


@pytest.mark.parametrize("budget,top_k,max_depth", [(1, 1, 1), (510, 10, 6), (25, 4, 12)])
def test_flags_are_given_exactly_where_eagle2_can_draft(budget, top_k, max_depth):
    land = RankLandscape([0.09] * top_k)
    assert POLICIES["eagle2"](top_k=top_k, max_depth=max_depth)(land, budget).budget == budget
    assert len(engine_flags(budget, top_k, max_depth)) == 4


@pytest.mark.parametrize("budget,top_k,max_depth", [(511, 10, 6), (7, 1, 6), (0, 1, 1), (4, 0, 5), (4, 5, 0)])
def test_a_tree_no_engine_can_build_is_refused_in_one_sentence(budget, top_k, max_depth):
    with pytest.raises(ValueError, match="given, allowed is"):
        engine_flags(budget, top_k, max_depth)


def test_every_setting_obeys_tensorrts_rule():
    """max_draft_len <= max_total_draft_tokens <= topK * max_draft_len, and a sentence wherever nodes are lost."""
    for top_k in (1, 2, 4, 10):
        for max_depth in range(1, 13):
            for budget in range(1, 129):
                if top_k + (max_depth - 1) * top_k**2 < budget:
                    continue
                flags = engine_flags(budget, top_k, max_depth)[2]
                total, levels, width = numbers(flags)
                assert levels <= total <= width * levels and width == top_k
                assert ("nodes instead of" in flags.change) == (total < budget)


@pytest.mark.parametrize("budget,kept", [(4, [4, 4, 10]), (128, [120, 12, 10])])
def test_tensorrts_smallest_refused_budgets_become_the_nearest_it_takes(budget, kept):
    assert numbers(engine_flags(budget, top_k=10, max_depth=12)[2]) == kept


def test_fewer_levels_than_the_budget_allows_change_no_tree():
    """What TensorRT-LLM is asked for instead of 12 levels at budget 4 is the same tree."""
    for seed in range(20):
        land = SyntheticLandscape(seed, sharpness=4.0, branching=10)
        deep, cut = (POLICIES["eagle2"](top_k=10, max_depth=levels)(land, 4).tree.paths for levels in (12, 4))
        assert deep == cut


@pytest.mark.parametrize("max_depth", [3, 6])
def test_sglang_is_asked_for_a_chain_by_its_steps(max_depth):
    """At topk 1 SGLang sets num_draft_tokens to num_steps + 1 whatever is given: 3 nodes need 3 steps."""
    steps, top_k, tokens = numbers(engine_flags(budget=3, top_k=1, max_depth=max_depth)[1])
    assert (steps, top_k, tokens) == (3, 1, 4)


def test_a_chain_is_the_same_chain_everywhere():
    eagle, sglang, tensorrt, vllm = chain_flags(5)
    assert numbers(eagle) == [6, 4, 1] and numbers(sglang) == [5, 1, 6] and numbers(tensorrt) == [5, 5, 1]
    assert vllm_config(vllm)["num_speculative_tokens"] == 5
    assert all(flags.change == "" for flags in (eagle, sglang, tensorrt, vllm))


@pytest.mark.parametrize("name", POLICIES)
def test_what_a_policy_asks_engines_for_is_its_own_tree(name):
    """EAGLE-2 with a policy's engine setting keeps the policy's tree; the others say that no engine builds theirs."""
    policy, land = POLICIES[name](), SyntheticLandscape(3, sharpness=2.5)
    setting = policy.engine_setting(5)
    assert (setting is not None) == (name in ("chain", "eagle2"))
    if setting is not None:
        budget, top_k, max_depth = setting
        assert POLICIES["eagle2"](top_k=top_k, max_depth=max_depth)(land, budget).tree.paths == policy(land, 5).tree.paths
