"""What the presets' sentences say is what the core computes."""

import re

import pytest

from eagle_viz import POLICIES, compare
from eagle_viz.core import recording
from eagle_viz.core.readout import draft_up_to, sweep_probability, wasted_nodes
from eagle_viz.core.replay import replay, tau
from eagle_viz.ui.presets import PRESETS, changes_by_name, shown
from eagle_viz.ui.settings import base_of
from eagle_viz.ui.world import LandscapeKey, landscape, sides

SYNTHETIC = [name for name, preset in PRESETS.items() if preset.changes.get("source") != "recording"]


def drafts(name, **changes):
    settings = base_of(name, changes_by_name()).but(**changes)
    land = landscape(LandscapeKey.of(settings))
    return [draft_up_to(key.policy(), land, settings.budget)[0] for key in sides(settings)]


def worth(draft):
    return f"{draft.tree.expected_accepted:.2f}"


@pytest.mark.parametrize("name", SYNTHETIC)
def test_every_amount_of_tokens_in_a_sentence_is_computed(name):
    static, dynamic = drafts(name)
    assert worth(dynamic) in PRESETS[name].sentence
    assert worth(static) in PRESETS[name].sentence or name == "ties"


def test_sharp_wins_deep_and_flat_wins_little():
    static, dynamic = drafts("sharp")
    gain = dynamic.tree.expected_accepted / static.tree.expected_accepted - 1
    assert (static.tree.depth, dynamic.tree.depth) == (5, 6) and 0.20 < gain < 0.30
    assert f"{len(wasted_nodes(static, dynamic))} of its 25 nodes" in PRESETS["sharp"].sentence
    assert drafts("deep")[1].tree.depth == 12
    static, dynamic = drafts("flat")
    assert round(100 * (dynamic.tree.expected_accepted / static.tree.expected_accepted - 1)) == 4
    assert dynamic.tree.depth == static.tree.depth == 5


def test_misses_cost_each_level_once_more():
    """At coverage c a node at level d is worth c^d of what it was: the preset's numbers, from the trees without misses."""
    settings = base_of("misses", changes_by_name())
    whole = [draft_up_to(key.policy(), landscape(LandscapeKey.of(settings.but(coverage=1.0))), 60)[0] for key in sides(settings)]
    kept = [draft.order for draft in drafts("misses")]
    expected = []
    for draft, paths in zip(whole, kept, strict=True):
        values = draft.pool.values
        expected.append(sum(values[draft.pool.index[path]] * 0.9 ** len(path) for path in paths))
    assert [worth(draft) for draft in drafts("misses")] == [f"{value:.2f}" for value in expected] == ["3.28", "3.89"]
    sharp = drafts("sharp")
    gains = [round(100 * (b.tree.expected_accepted / a.tree.expected_accepted - 1)) for a, b in (drafts("misses"), sharp)]
    assert f"{gains[0]} % more instead of {gains[1]} %" in PRESETS["misses"].sentence


def test_the_misconception():
    static, dynamic = drafts("sweep")
    chain = [(0,) * depth for depth in (1, 2, 3, 4)]
    assert sorted(dynamic.order, key=len) == chain
    assert [f"{value:.2f}" for value in dynamic.tree.values[1:]] == ["0.90", "0.72", "0.55", "0.40"]
    assert sweep_probability(static.tree) == pytest.approx(1) and sweep_probability(dynamic.tree) == pytest.approx(0.40, abs=1e-3)


def test_one_sure_chain_is_one_chain():
    assert drafts("chain")[1].order == tuple((0,) * depth for depth in range(1, 13))


def test_five_of_eight_nodes_worth_a_sixteenth_are_kept():
    dynamic = drafts("ties")[1]
    assert (dynamic.pool.values == 1 / 16).sum() == 8 and (dynamic.tree.values == 1 / 16).sum() == 5


def test_heavy_tail_is_two_levels_deep_and_its_gain_is_shape_alone():
    static, dynamic = drafts("tail", static="best_static")
    assert dynamic.tree.depth == 2 and worth(static) == worth(dynamic)


def test_static_wins_until_the_beam_is_wide_enough():
    static, dynamic = drafts("average")
    assert static.tree.expected_accepted > dynamic.tree.expected_accepted
    static, dynamic = drafts("average", top_k=10)
    assert static.tree.expected_accepted == dynamic.tree.expected_accepted
    assert compare(landscape(LandscapeKey.of(base_of("average", changes_by_name()))), 25, "best_static", "best_first").gain == 0


def test_no_preset_says_a_number_that_is_not_in_the_picture():
    for name in SYNTHETIC:
        amounts = set(re.findall(r"\d\.\d\d", PRESETS[name].sentence))
        static, dynamic = drafts(name)
        factors = {f"{value:.2f}" for draft in (static, dynamic) for value in draft.tree.values}
        best = {worth(drafts(name, static="best_static")[0])}
        assert amounts <= {worth(static), worth(dynamic)} | factors | best


def test_a_presets_sentence_goes_when_its_landscape_does():
    start = base_of("flat", changes_by_name())
    assert shown(start) == shown(start.but(budget=40, static="chain", step=3)) == "flat"
    assert shown(start.but(seed=5)) == shown(start.but(sharpness=2.0)) == shown(start.but(preset="")) == ""
    legal = base_of("legal", changes_by_name())
    assert shown(legal.but(recording="head-legal", position=4)) == "legal" and shown(legal.but(recording="head-list")) == ""


def replayed(name, levels=6):
    rec = recording.read(recording.shipped()[name]).for_greedy()
    policy = POLICIES["eagle2"](top_k=10, max_depth=levels)
    return [replay(cycle, policy(cycle.landscape, 25).tree) for cycle in rec.cycles]


def levels(name, allowed=6):
    depths = [one.depth for one in replayed(name, allowed)]
    return min(depths), max(depths)


def test_the_sentences_on_real_texts_are_measured():
    head = "smollm2-135m-eagle3"
    texts = [name.removeprefix(f"{head}-") for name in recording.shipped() if name.startswith(head)]
    expected = {text: tau(replayed(f"{head}-{text}"))[0] - 1 for text in texts}
    assert len(texts) == 13 and max(expected, key=expected.get) == "numbers"
    assert expected["limerick"] < expected["numbers"] / 2
    assert (
        f"{expected['limerick']:.2f} accepted tokens a pass, of Counting {expected['numbers']:.2f}" in PRESETS["limerick"].sentence
    )
    assert f"{expected['python']:.2f}" in PRESETS["code"].sentence
    assert f"{tau(replayed(f'{head}-numbers', 12))[0] - 1:.2f}" in PRESETS["counting"].sentence
    assert "are {} to {} levels deep".format(*levels(f"{head}-numbers", 12)) in PRESETS["counting"].sentence
    assert "between {} and {} levels".format(*levels(f"{head}-python")) in PRESETS["code"].sentence
    assert "{} to {} levels deep".format(*levels(f"{head}-legal", 12)) in PRESETS["legal"].sentence
    assert "{} to {} levels.".format(*levels("oracle-legal", 12)) in PRESETS["legal"].sentence
