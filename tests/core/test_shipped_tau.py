"""One tau: every shipped recording tells the same number live and replayed, and a short answer is cut where it ends."""

import numpy as np
import pytest

from eagle_viz.core.landscape import Candidates, RecordedLandscape
from eagle_viz.core.policies import POLICIES
from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.recording import RecordedCycle, read, shipped
from eagle_viz.core.replay import replay, tau
from eagle_viz.core.verification import conditional_acceptance, written

FILES = shipped()


@pytest.mark.parametrize("name", FILES)
def test_a_shipped_recording_says_one_tau_live_and_replayed(name):
    """A pass replayed at the live budget, in the reading that it was drafted in, writes what it wrote live."""
    recording = read(FILES[name]).for_greedy()
    live = recording.made["live"]
    parameters = {"eagle2": ("top_k", "max_depth"), "best_first": ("max_depth",)}
    for place, verdict in enumerate(recording.cycles[0].verdicts):
        made = live[verdict.policy]
        chosen = {field: made[field] for field in parameters.get(made["policy"], ()) if field in made}
        policy = POLICIES[made["policy"]](**chosen)
        passes = [replay(cycle, draft_up_to(policy, cycle.landscape, verdict.budget)[0].tree) for cycle in recording.cycles]
        assert [one.written for one in passes] == [cycle.written(cycle.verdicts[place].accept_length) for cycle in recording.cycles]
        assert tau(passes)[1] == recording.tau[f"{verdict.policy} {verdict.budget}"]


@pytest.mark.parametrize("name", FILES)
def test_no_pass_of_a_shipped_recording_writes_beyond_its_answer(name):
    """Between two roots that follow each other lies what the leader's pass wrote; the last pass ends with the answer."""
    recording = read(FILES[name])
    end = recording.prompt_length + recording.answer_length - 1
    for cycle, after in zip(recording.cycles, [*(c.position for c in recording.cycles[1:]), end], strict=True):
        wrote = cycle.written(cycle.verdicts[0].accept_length)
        assert 1 <= wrote <= after - cycle.position or cycle.position + wrote == end


def test_a_short_answer_of_four_tokens_in_two_passes_has_tau_one_and_a_half():
    """The prompt's pass writes one token, two verify passes the other three: 2 and then 1 of the 3 that were accepted."""
    land = RecordedLandscape({(): Candidates(np.array([5]), np.array([0.5]), None)}, 0)
    draft = draft_up_to(POLICIES["chain"](), land, 1)[0].tree
    passes = [replay(RecordedCycle(0, land, (5, 7, 8), room=room), draft) for room in (3, 1)]
    assert [one.accepted for one in passes] == [1, 1] and [one.written for one in passes] == [2, 1]
    assert tau(passes)[1] == 1.5


@pytest.mark.parametrize(
    ("tokens", "room", "count"), [([5, 6, 7], 9, 3), ([5, 2, 7], 9, 2), ([2], 9, 1), ([5, 6, 7], 2, 2), ([5, 2, 2], 1, 1)]
)
def test_tokens_written_are_cut_at_the_end_token_and_the_limit(tokens, room, count):
    """2 ends the answer; it is written itself."""
    assert written(tokens, {2}, room) == count


def test_conditional_acceptance_by_hand():
    """Of 4 passes 3 accept a first token, of these 2 a second; without a pass nothing is known."""
    assert conditional_acceptance([0, 1, 2, 2]) == (3 / 4, 2 / 3)
    assert conditional_acceptance([]) == conditional_acceptance([0]) == ()
