"""The trace shows what the core computes, and nothing in it moves when the budget grows."""

import json
import math

import numpy as np
import pytest

from eagle_viz import POLICIES, RankLandscape, SyntheticLandscape, compare
from eagle_viz.core.landscape import Candidates, RecordedLandscape
from eagle_viz.core.readout import draft_up_to, wasted_nodes
from eagle_viz.core.tree import path_name
from eagle_viz.stage.nodes import quoted, visible
from eagle_viz.stage.trace import TIERS, build_trace, tier_of

EAGLE2 = POLICIES["eagle2"](max_depth=12)
EAGLE1 = POLICIES["eagle1"]()


def lab(seed=11, tier=32, static=EAGLE1, dynamic=EAGLE2, **options):
    return build_trace(SyntheticLandscape(seed=seed), static, dynamic, tier=tier, **options)


def kept(trace, side, budget):
    reveal = trace["sides"][side]["reveals"].get("all") or trace["sides"][side]["reveals"][str(budget)]
    return [trace["nodes"][i]["path"] for i in reveal["order"][:budget]], reveal


PAIRS = [("eagle1", "eagle2"), ("best_static", "best_first"), ("max_sweep", "best_first"), ("chain", "eagle2")]


@pytest.mark.parametrize("names", PAIRS)
@pytest.mark.parametrize("budget", [1, 7, 25, 32])
def test_every_budget_shows_exactly_what_compare_finds(names, budget):
    static, dynamic = (POLICIES[name](**({"max_depth": 12} if name == "eagle2" else {})) for name in names)
    pair = compare(SyntheticLandscape(seed=11), budget, static, dynamic)
    trace = lab(static=static, dynamic=dynamic)
    for side, draft in (("static", pair.static), ("dynamic", pair.dynamic)):
        paths, reveal = kept(trace, side, budget)
        assert paths == [path_name(path) for path in draft.order]
        assert reveal["expected"][budget] == draft.tree.expected_accepted
        assert reveal["shown"][budget] == f"{draft.tree.expected_accepted:.2f}"


def test_a_trace_is_json_and_the_same_settings_give_the_same_one():
    one, two = lab(), lab()
    assert json.loads(json.dumps(one)) == one and one["id"] == two["id"] and one["id"] != lab(seed=12)["id"]


def test_a_tier_has_one_layout_for_all_its_budgets_and_holds_whatever_it_shows():
    trace = lab(tier=128)
    assert list(trace["layouts"]) == ["32", "64", "128"]
    for tier in (32, 64, 128):
        laid = {trace["nodes"][i]["path"] for i in trace["layouts"][str(tier)]["nodes"]}
        for side in ("static", "dynamic"):
            assert set(kept(trace, side, tier)[0]) <= laid


def test_parents_come_before_children_and_every_side_reveals_them_first():
    trace = lab(tier=64)
    for i, node in enumerate(trace["nodes"]):
        assert node["parent"] < i and (i == 0) == (node["parent"] == -1)
    for side in trace["sides"].values():
        order = side["reveals"]["all"]["order"]
        seen = {0}
        for i in order:
            assert trace["nodes"][i]["parent"] in seen
            seen.add(i)


def test_the_least_value_marks_exactly_the_wasted_static_nodes():
    trace, pair = lab(), compare(SyntheticLandscape(seed=11), 25, EAGLE1, EAGLE2)
    paths, _ = kept(trace, "static", 25)
    least = trace["sides"]["dynamic"]["reveals"]["all"]["least"][25]
    worth = {node["path"]: node["value"] for node in trace["nodes"]}
    assert [path for path in paths if worth[path] < least] == [path_name(path) for path in wasted_nodes(pair.static, pair.dynamic)]


def test_the_expand_layers_are_the_frontiers_and_everything_they_scored():
    trace, draft = lab(), EAGLE2(SyntheticLandscape(seed=11), 32)
    name = [node["path"] for node in trace["nodes"]]
    assert [[name[i] for i in layer["frontier"]] for layer in trace["phases"]] == [
        [path_name(path) for path in frontier] for frontier in draft.frontiers
    ]
    assert sorted(name[i] for layer in trace["phases"] for i in layer["scored"]) == sorted(map(path_name, draft.pool.paths[1:]))
    assert all(set(layer["chosen"]) <= set(layer["scored"]) for layer in trace["phases"])
    assert trace["phases"][-1]["chosen"] == [] and lab(dynamic=POLICIES["best_first"]())["phases"] == []


def test_a_pool_smaller_than_the_tier_stops_there_and_says_what_to_raise():
    trace = lab(dynamic=POLICIES["eagle2"](top_k=2, max_depth=3))
    side = trace["sides"]["dynamic"]
    assert side["available"] == 10 and "raise top_k" in side["notice"] and len(side["reveals"]["all"]["order"]) == 10
    assert trace["sides"]["static"]["notice"] is None


@pytest.mark.parametrize(("policy", "fixed"), [(EAGLE1, True), (POLICIES["eagle2"](top_k=2, max_depth=3), False)])
def test_only_a_fixed_shape_is_said_to_be_fixed_even_where_everything_scored_is_kept(policy, fixed):
    assert ("its tree is always the same" in lab(static=policy)["sides"]["static"]["idle"]) == fixed


def test_rolls_average_to_the_expected_number_for_both_trees():
    trace = lab()
    rolls = trace["verify"]["rolls"]
    for side in ("static", "dynamic"):
        reveal = trace["sides"][side]["reveals"]["all"]
        for budget in (5, 25):
            shown = set(reveal["order"][:budget])
            counts = np.array([len(shown.intersection(roll)) for roll in rolls])
            assert abs(counts.mean() - reveal["expected"][budget]) < 4.5 * counts.std() / math.sqrt(len(rolls))


def spoken_landscape():
    """“ the” and “ a” after the root; after “ the” “\\n” or “<b>”."""
    table = {(): Candidates(np.array([5, 6]), np.array([0.6, 0.3])), (0,): Candidates(np.array([7, 8]), np.array([0.5, 0.2]))}
    empty = Candidates(np.array([], dtype=int), np.array([]))
    everywhere = table | {path: empty for path in ((1,), (0, 0), (0, 1))}
    return RecordedLandscape(everywhere, root_token=4, texts={4: " said", 5: " the", 6: " a", 7: "\n", 8: "<b>"})


def test_a_recorded_verdict_follows_the_continuation_and_says_why_it_stops():
    policy = POLICIES["best_first"](max_depth=2)
    trace = build_trace(spoken_landscape(), POLICIES["chain"](), policy, tier=32, continuation=(5, 8, 6))
    verify = trace["verify"]
    assert [trace["nodes"][i]["path"] for i in verify["path"]] == ["0", "0.1"]
    assert verify["said"] == ["“␣the”", "“<b>”", "“␣a”"]
    assert verify["stops"][1] == (
        "1 accepted; the target then says “<b>”, guess number 2 with confidence 0.20: worth 0.12, which this tree did not keep."
    )
    assert verify["stops"][2] == "2 accepted; the target then says “␣a”, not among the drafter's 0 guesses."
    assert [node["text"] for node in trace["nodes"]] == ["␣said", "␣the", "␣a", "⏎", "<b>"]


def test_white_space_and_control_characters_are_visible():
    assert visible(" a\tb\n") == "␣a⇥b⏎" and visible("\x07") == "\\x07"
    assert quoted("x" * 40) == "“" + "x" * 23 + "…”"


def test_tiers():
    assert [tier_of(budget) for budget in (0, 32, 33, 128, 129, 512)] == [32, 32, 64, 128, 256, 512] and max(TIERS) == 512
    with pytest.raises(ValueError, match="budget: 513"):
        tier_of(513)
    with pytest.raises(ValueError, match="tier: 33"):
        lab(tier=33)


def test_an_exact_tie_reads_like_python_writes_it():
    trace = build_trace(RankLandscape([0.5, 0.125]), POLICIES["chain"](), POLICIES["best_first"](max_depth=3), tier=32)
    node = next(node for node in trace["nodes"] if node["path"] == "1")
    assert node["shown"] == f"{0.125:.2f}"


def test_equal_tokens_are_told_apart_by_their_paths():
    """Where two kept nodes read the same, every sentence about them names the path; a single one needs none."""
    table = {(): Candidates(np.array([5, 6]), np.array([0.6, 0.3])), (0,): Candidates(np.array([5]), np.array([0.5]))}
    empty = Candidates(np.array([], dtype=int), np.array([]))
    land = RecordedLandscape(table | {path: empty for path in ((1,), (0, 0))}, root_token=4, texts={4: " said", 5: " the", 6: " a"})
    trace = build_trace(land, POLICIES["chain"](), POLICIES["best_first"](max_depth=2), tier=32)
    why = trace["sides"]["dynamic"]["reveals"]["all"]["why"]
    assert [sentence.split(" is kept")[0] for sentence in why] == ["“␣the” (0)", "“␣a”", "“␣the” (0.0)"]


def test_both_sides_have_a_curve_over_the_budget_that_is_compares():
    """Entry b of a curve is the expected accepted tokens at budget b, beyond the tier too."""
    trace = lab(curve_to=64)
    for side, policy in (("static", EAGLE1), ("dynamic", EAGLE2)):
        curve = trace["sides"][side]["curve"]
        assert len(curve) == 65 and trace["curve_to"] == 64
        for budget in (0, 1, 33, 64):
            assert curve[budget] == policy(SyntheticLandscape(seed=11), budget).tree.expected_accepted


@pytest.mark.parametrize("name", POLICIES)
def test_a_side_has_a_price_where_its_trees_are_what_is_worth_it(name):
    """Law: with a price, every scored node worth more than the smallest value kept is in the tree, at every budget."""
    landscape, policy = SyntheticLandscape(seed=5, sharpness=1.6), POLICIES[name]()
    side = build_trace(landscape, POLICIES["eagle1"](), policy, tier=32)["sides"]["dynamic"]

    def better_left_out(draft):
        least = draft.tree.values[1:].min()
        return any(
            value > least and path not in draft.tree.index for path, value in zip(draft.pool.paths, draft.pool.values, strict=True)
        )

    largest = draft_up_to(policy, landscape, 32)[0].budget
    unfit = policy.fixed or not policy.nested or any(better_left_out(policy(landscape, n)) for n in range(1, largest + 1))
    assert side["priced"] == (not unfit)
    assert {"eagle2": True, "best_first": True, "chain": False, "eagle1": False}.get(name, side["priced"]) == side["priced"]
