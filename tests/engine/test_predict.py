"""The prediction bench on a tiny random model: what is rehearsed is what is decoded, and every part was timed."""

import pytest
import torch

from eagle_viz.core.policies import Chain, Eagle2
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.head import Head
from eagle_viz.engine.known_texts import LEADER, LEADER_BUDGET
from eagle_viz.engine.part_times import POSITIONS, Round, part_times, time_round
from eagle_viz.engine.predict import Bench, bench_predict
from eagle_viz.engine.prompts import Prompt
from tests.engine.tiny import tiny_llama, tiny_tokenizer

CONTEST = {"leader": (LEADER, LEADER_BUDGET), "chain": (Chain(), 3), "early": (Eagle2(top_k=3, max_depth=3, early_stop=True), 6)}
PROMPTS = [Prompt("a", "a", "text", "w5 w6 w7"), Prompt("b", "b", "text", "w9")]


@pytest.fixture(scope="module")
def folders(tiny_target, tmp_path_factory):
    """A tiny target and head as files."""
    target, head = tmp_path_factory.mktemp("target"), tmp_path_factory.mktemp("head")
    tiny_llama().save_pretrained(target)
    tiny_tokenizer().save_pretrained(target)
    Head.random(tiny_target, draft_vocabulary=64).save(head)
    return target, head


def test_every_part_is_timed(tiny_target):
    """Times above 0 at every size and length."""
    times = part_times([time_round(tiny_target, HeadDrafter(Head.random(tiny_target, draft_vocabulary=64)))])
    parts = [cost for _, cost in times.verify] + [times.prefix, times.frontier, times.rest]
    assert len(times.verify) == 2 and all(min(cost.verify_ms) > 0 for cost in parts)
    assert times.rest.sizes == POSITIONS


def test_a_part_costs_the_median_of_its_rounds():
    """Of three rounds the middle one; what follows a pass counts all lengths alike; without a round there is no time."""
    rounds = [Round(([ms] * 8, [2 * ms] * 8), [3 * ms] * 5, [4 * ms] * 4, ([5 * ms] * 8, [5 * ms] * 8)) for ms in (1.0, 9.0, 2.0)]
    times = part_times(rounds)
    assert [cost.verify_ms[0] for _, cost in times.verify] == [2, 4]
    assert (times.prefix.verify_ms[0], times.frontier.verify_ms[0], times.rest.verify_ms[0]) == (6, 8, 10)
    with pytest.raises(ValueError, match="rounds: 0 given"):
        part_times([])


def test_a_rehearsed_leader_writes_what_it_decodes(folders):
    """Its contexts are its own passes, so tau, nodes and frontiers of both are equal; the policies' own time is above 0."""
    bench = Bench(*folders, torch.float32, PROMPTS, 12)
    found = bench.rehearsed(CONTEST)
    tokens, passes = map(sum, list(zip(*(bench.decoded("x", *CONTEST["leader"], text) for text in bench.texts), strict=True))[:2])
    assert sum(one.written for one in found["leader"]) == tokens and len(found["leader"]) == passes
    assert all(one.widths == () or one.widths[0] <= 10 for one in found["leader"])
    assert all(len(one.widths) == 2 and one.nodes == 3 for one in found["chain"])
    assert all(one.policy_ms > 0 for contexts in found.values() for one in contexts)


def test_a_report_has_a_row_for_each_setting_and_precision(folders):
    """Predicted and measured speeds are positive numbers of the same answers; bad rounds are refused."""
    said = []
    made = bench_predict(*folders, PROMPTS, 10, [torch.float32], rounds=1, contest=CONTEST, report=said.append)
    assert [row.setting for row in made.rows] == list(CONTEST) and said[-1] == "round 1 of 1 decoded"
    assert all(row.predicted > 0 and row.measured > 0 and row.measured_tau >= 1 for row in made.rows)
    assert made.rows[0].predicted_tau == pytest.approx(made.rows[0].measured_tau)
    with pytest.raises(ValueError, match="rounds: 0 given"):
        bench_predict(*folders, PROMPTS, 10, [torch.float32], rounds=0)
