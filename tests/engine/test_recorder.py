"""A recording made on a tiny target replays every policy, and what it replays is what happened."""

from dataclasses import replace

import numpy as np
import pytest

from eagle_viz import POLICIES
from eagle_viz.core.greedy import GreedyCalibration
from eagle_viz.core.ladder import ablation_policies, ladder_policies, score_policies
from eagle_viz.core.recording import MAX_BUDGET, read, write
from eagle_viz.engine.assembly import TAIL, evenly, standard_contest
from eagle_viz.engine.drafted import HeadDrafter, OracleDrafter
from eagle_viz.engine.expansion import CHAIN_DEPTH
from eagle_viz.engine.head import Head
from eagle_viz.engine.plain import plain
from eagle_viz.engine.prompts import Prompt
from eagle_viz.engine.reader import Reader
from eagle_viz.engine.recorder import record
from eagle_viz.engine.sampling import Settings

TWO = (Prompt("one", "One", "fact", "w7 w9"), Prompt("two", "Two", "list", "w50 w8 w20"))


@pytest.fixture(scope="module", params=["oracle", "head"])
def recordings(request, tiny_target, tmp_path_factory):
    head = Head.random(tiny_target, draft_vocabulary=60)
    drafter = OracleDrafter(tiny_target) if request.param == "oracle" else HeadDrafter(head)
    made = record(tiny_target, drafter, TWO, standard_contest(12), max_new_tokens=10, contexts=2, target_name="tiny")
    folder = tmp_path_factory.mktemp("recordings")
    return [read(write(one, folder / f"{one.name}.npz")) for one in made]


def test_every_policy_finds_all_it_asks_for_at_every_budget(recordings):
    policies = [POLICIES[name]() for name in ("eagle1", "best_static", "max_sweep")]
    policies += [POLICIES["best_first"](max_depth=depth) for depth in (3, 12)]
    policies += [POLICIES["eagle2"](top_k=k, max_depth=d) for k in (7, 10) for d in (6, 12)]
    for cycle in (one.cycles[-1] for one in recordings):
        for budget in (1, 59, MAX_BUDGET):
            assert all(policy(cycle.landscape, budget).tree.budget == budget for policy in policies)
        assert POLICIES["chain"]()(cycle.landscape, CHAIN_DEPTH).tree.depth == CHAIN_DEPTH


def test_live_verdicts_are_what_a_replay_gives(recordings):
    for one in recordings:
        for cycle in one.cycles:
            for live, policy in zip(cycle.verdicts, (POLICIES["eagle2"](max_depth=12), POLICIES["eagle1"]()), strict=True):
                tree = policy(cycle.landscape, live.budget).tree
                verdict = cycle.verdict(tree)
                assert (tree.paths[verdict.accepted[-1]] if verdict.accepted else ()) == live.path
                assert verdict.bonus == live.bonus and live.policy == policy.name


def test_continuations_are_the_targets_greedy_ones(recordings, tiny_target):
    for one in recordings:
        wanted = [token for token, _ in plain(tiny_target, one.tokens[: one.prompt_length], Settings(10 + TAIL))]
        assert list(one.tokens[one.prompt_length :]) == wanted and one.answer_length == 10
        for cycle in one.cycles:
            assert list(cycle.continuation) == wanted[cycle.position + 1 - one.prompt_length :]
            assert cycle.landscape.root_token == one.tokens[cycle.position]


def test_every_candidate_has_the_targets_probability_and_a_text(recordings, tiny_target):
    one = recordings[0]
    cycle = one.cycles[-1]
    for path, row in cycle.landscape.candidates.items():
        assert row.target_probabilities is not None
        assert all(cycle.landscape.token_text(int(token)) for token in row.tokens)
        if len(path) == 2:
            words = [int(cycle.landscape.candidates[path[:depth]].tokens[path[depth]]) for depth in range(2)]
            wanted = tiny_target.forward([*one.tokens[: cycle.position + 1], *words]).logits[-1].double().softmax(0)
            np.testing.assert_allclose(row.target_probabilities, wanted[row.tokens].numpy(), rtol=3e-4, atol=2e-5)


def test_the_average_is_taken_over_the_other_recording(recordings):
    first, second = recordings
    roots = [cycle.landscape.candidates[()].confidences for cycle in second.cycles]
    np.testing.assert_allclose(first.average[0], np.mean(roots, axis=0), atol=1e-9)
    assert first.cycles[0].landscape.family_average() == first.average != second.average


def test_ladder_and_ablation_run_on_recorded_contexts(recordings):
    cycles = [cycle for one in recordings for cycle in one.cycles]
    rungs = score_policies(cycles, ladder_policies(12) | ablation_policies(), 25, oracle=12)
    oracle = rungs[-1]
    assert all(rung.target <= oracle.target + 1e-9 for rung in rungs if rung.name not in ("chain", "best_static", "eagle1"))
    if recordings[0].drafter == "oracle":
        best = next(rung for rung in rungs if rung.name == "best_first")
        assert best.target == pytest.approx(best.expected) == oracle.target


def test_contexts_are_evenly_spaced_and_hold_both_ends():
    assert evenly(range(10), 4) == [0, 3, 6, 9] and evenly(range(3), 5) == [0, 1, 2] == evenly(range(3), None)
    assert evenly(range(10), 1) == [0]


def test_reading_a_known_text_in_parts_equals_reading_it_at_once(tiny_target):
    text = [5, 9, 33, 70, 12, 8]
    reader = Reader(tiny_target, OracleDrafter(tiny_target), text[:2], grow=8, depth=4)
    reader.start(text[2])
    reader.extend(text[3:5])
    reader.extend([])
    reader.extend(text[5:])
    found = reader.landscape().expand([()])[0]
    wanted = tiny_target.forward(text).logits[-1].double().softmax(0)
    np.testing.assert_allclose(found.confidences, wanted[found.tokens].numpy(), atol=2e-5)


def test_a_recording_answers_in_the_greedy_reading_too(tiny_target, tmp_path):
    """Of a head that knows the reading: every policy finds all it asks for in both, the live run is replayed in the greedy one."""
    calibration = GreedyCalibration((2.0, 1.5), 0.5, -1.0)
    base = Head.random(tiny_target, draft_vocabulary=60).checkpoint
    config = dict(base.config) | {"eagle_viz": {"greedy": calibration.to_json()}}
    drafter = HeadDrafter(Head(replace(base, config=config), tiny_target))
    made = record(tiny_target, drafter, TWO, standard_contest(12), max_new_tokens=10, contexts=1, target_name="tiny")
    policies = [POLICIES["best_static"](), *(POLICIES[name](max_depth=12) for name in ("best_first", "eagle2"))]
    for one in (read(write(found, tmp_path / f"{found.name}.npz")) for found in made):
        assert one.greedy.calibration == calibration and one.greedy.average != one.average
        told = one.for_greedy()
        for cycle in (*one.cycles, *told.cycles):
            assert all(policy(cycle.landscape, MAX_BUDGET).tree.budget == MAX_BUDGET for policy in policies)
        for cycle in told.cycles:
            tree = policies[-1](cycle.landscape, 12).tree
            verdict = cycle.verdict(tree)
            assert (tree.paths[verdict.accepted[-1]] if verdict.accepted else ()) == cycle.verdicts[0].path
