"""Settings as engine flags: each engine's own counting."""

import re

import pytest

from eagle_viz import POLICIES, RankLandscape
from eagle_viz.core.engine_flags import engine_flags


def numbers(text):
    return [int(found) for found in re.findall(r"[= ](\d+)", text)]


def test_the_papers_setting_in_each_engines_counting():
    eagle, sglang, tensorrt = engine_flags(budget=59, top_k=10, max_depth=6)
    assert numbers(eagle.text) == [60, 5, 10]
    assert numbers(sglang.text) == [6, 10, 60]
    assert numbers(tensorrt.text) == [59, 6, 10]


@pytest.mark.parametrize("budget,top_k,max_depth", [(1, 1, 1), (510, 10, 6), (25, 4, 12)])
def test_flags_are_given_exactly_where_eagle2_can_draft(budget, top_k, max_depth):
    land = RankLandscape([0.09] * top_k)
    assert POLICIES["eagle2"](top_k=top_k, max_depth=max_depth)(land, budget).budget == budget
    assert len(engine_flags(budget, top_k, max_depth)) == 3


@pytest.mark.parametrize("budget,top_k,max_depth", [(511, 10, 6), (7, 1, 6), (0, 1, 1), (4, 0, 5), (4, 5, 0)])
def test_a_tree_no_engine_can_build_is_refused_in_one_sentence(budget, top_k, max_depth):
    with pytest.raises(ValueError, match="given, allowed is"):
        engine_flags(budget, top_k, max_depth)
