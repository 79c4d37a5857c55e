"""Every setting simulated at once against each drafted and verified by itself."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from eagle_viz import POLICIES, SyntheticLandscape
from eagle_viz.core.curves import Setting, best_first_curves, curves, eagle2_curves, nested_curve
from eagle_viz.core.landscape import Candidates, Landscape
from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.recording import MAX_DEPTH, RecordedCycle, read, shipped
from eagle_viz.core.replay import replay
from eagle_viz.core.simulation import outcomes, simulate, tally, whole
from eagle_viz.core.verification import verify_greedy


class Numbered(Landscape):
    """A synthetic landscape whose tokens are the ranks, so that siblings differ."""

    def __init__(self, seed):
        self.base, self.root_token = SyntheticLandscape(seed, 1.2, branching=3), -1

    def _expand(self, paths):
        return [Candidates(np.arange(3), found.confidences) for found in self.base.expand(paths)]


def cycles(count=2):
    """The first contexts of two recorded texts."""
    files = [path for name, path in shipped().items() if name.startswith("smollm2")][:2]
    return [(recording.kind, cycle) for recording in map(read, files) for cycle in recording.cycles[:count]]


def test_eagle2_at_every_setting_is_the_policy_drafted_and_verified_by_itself():
    """Written tokens and passes equal those of each own draft, early stop included."""
    for _, cycle in cycles(1):
        for top_k in (1, 3, 10):
            found = eagle2_curves(cycle, top_k)
            for depth, early, budget in product((1, 4, 12), (False, True), (1, 2, 9, 59, 128)):
                curve = found[Setting("eagle2", 128, depth, top_k, early)]
                if budget >= len(curve.written):
                    assert budget > top_k + (depth - 1) * top_k**2
                    continue
                draft = POLICIES["eagle2"](top_k=top_k, max_depth=depth, early_stop=early)(cycle.landscape, budget)
                assert curve.written[budget] == cycle.written(cycle.verdict(draft.tree).accept_length)
                assert curve.passes[budget] == draft.passes


def test_policies_that_end_their_trees_are_simulated_as_they_draft():
    """Written tokens, passes and nodes of each threshold and budget equal those of each own draft."""
    for _, cycle in cycles(1):
        for setting, found in curves(cycle).items():
            if setting.threshold is None or setting.top_k not in (None, 2, 10):
                continue
            made = {"stop_below": setting.threshold} if setting.top_k is None else {"top_k": setting.top_k, "max_depth": 12}
            policy = POLICIES[setting.policy](**made, **({} if setting.top_k is None else {"least_mass": setting.threshold}))
            for budget in {1, 5, 12, setting.budget}:
                draft, _ = draft_up_to(policy, cycle.landscape, budget)
                wrote = cycle.written(cycle.verdict(draft.tree).accept_length)
                assert (found.written[budget], found.passes[budget], found.nodes[budget]) == (wrote, draft.passes, draft.budget)


def test_best_first_under_every_cap_is_the_policy_drafted_by_itself():
    """Written tokens and passes of each depth cap and budget, in contexts that hold all of them and in one that does not."""
    contexts = [cycle for _, cycle in cycles(2)]
    held = {path: row for path, row in contexts[0].landscape.candidates.items() if len(path) < 5}
    contexts.append(replace(contexts[0], landscape=replace(contexts[0].landscape, candidates=held)))
    for cycle in contexts:
        for setting, found in best_first_curves(cycle).items():
            wanted = nested_curve(cycle, POLICIES["best_first"](setting.max_depth), 128)
            assert (found is None) == (wanted is None)
            if found is not None:
                assert found.written.tolist() == wanted.written.tolist() and found.passes.tolist() == wanted.passes.tolist()


def test_acceptance_equals_verification_with_the_targets_argmax():
    """The longest path along the text is what ``verify_greedy`` accepts when the target's argmax follows that text."""
    _, cycle = cycles(1)[0]
    for budget in (5, 60):
        tree = POLICIES["eagle2"](top_k=10, max_depth=6)(cycle.landscape, budget).tree
        text = [*cycle.continuation, -7]
        argmax = [text[min(int(depth), len(text) - 1)] for depth in tree.depths]
        curve = eagle2_curves(cycle, 10)[Setting("eagle2", 128, 6, 10, False)]
        assert cycle.written(verify_greedy(tree, argmax).accept_length) == curve.written[budget]


def test_more_nodes_never_write_fewer_tokens_in_one_context():
    """All simulated policies are nested, so acceptance is monotone in the budget; a depth that is not held whole has no curve."""
    for _, cycle in cycles(2):
        found = curves(cycle)
        assert {setting.policy for setting, curve in found.items() if curve is None} <= {"best_first"}
        for curve in filter(None, found.values()):
            assert (np.diff(curve.written) >= 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_acceptance_on_small_trees_by_brute_force(seed):
    """The deepest kept path that is a prefix of the text, found by looking at every path of the tree."""
    land = Numbered(seed)
    tokens = np.random.default_rng(seed).integers(0, 2, MAX_DEPTH).tolist()
    cycle = RecordedCycle(0, land, tuple(tokens))
    curve = eagle2_curves(cycle, 3)[Setting("eagle2", 128, 5, 3, False)]
    for budget in range(1, 30):
        tree = POLICIES["eagle2"](top_k=3, max_depth=5)(land, budget).tree
        said = [tuple(int(tree.tokens[node]) for node in tree.ancestry(node)[1:]) for node in range(len(tree))]
        assert curve.written[budget] == 1 + max(len(one) for one in said if one == tuple(tokens[: len(one)]))


def test_tau_is_the_mean_over_contexts_with_its_normal_interval():
    """tau, interval and kinds by hand from what each context's own tree writes."""
    contexts = cycles(3)
    row = next(one for one in simulate(contexts) if one.setting == Setting("chain", 4))
    trees = [(cycle, POLICIES["chain"]()(cycle.landscape, 4).tree) for _, cycle in contexts]
    wrote = np.array([replay(*one).written for one in trees])
    half = 1.96 * wrote.std(ddof=1) / len(wrote) ** 0.5
    assert (row.tau, row.low, row.high) == pytest.approx((wrote.mean(), wrote.mean() - half, wrote.mean() + half))
    kinds = np.array([kind for kind, _ in contexts])
    assert row.by_kind == pytest.approx({kind: wrote[kinds == kind].mean() for kind in set(kinds)})
    assert row.passes == 4 and row.nodes == 4


def test_tau_is_cut_where_the_answer_ends():
    """A pass behind which two answer tokens are left writes two, whatever is accepted: the page, the recordings and this agree."""
    _, cycle = max(cycles(4), key=lambda one: one[1].verdict(POLICIES["chain"]()(one[1].landscape, 12).tree).accept_length)
    whole = eagle2_curves(cycle, 10)[Setting("eagle2", 128, 12, 10, False)].written
    assert whole[-1] > 2
    short = eagle2_curves(replace(cycle, room=2), 10)[Setting("eagle2", 128, 12, 10, False)].written
    assert short.tolist() == np.minimum(whole, 2).tolist()


@pytest.mark.parametrize("name", ["smollm2-135m-eagle3-fact", "oracle-limerick"])
def test_simulated_tau_is_the_recorded_one(name):
    """At the setting that led when the recording was made, tau is what the live run wrote per pass."""
    recording = read(shipped()[name]).for_greedy()
    found = simulate([(recording.kind, cycle) for cycle in recording.cycles])
    row = next(one for one in found if one.setting == Setting("eagle2", 25, 12, 10, False))
    assert row.tau == pytest.approx(recording.tau["eagle2 25"])


def test_no_context_is_one_sentence():
    """Nothing to simulate is refused, naming the field."""
    with pytest.raises(ValueError, match="contexts: none given"):
        simulate([])


def test_what_one_context_lacks_is_left_out_and_the_rest_stays():
    """A recording without an average of others has no best static shape; beside one that has it, all other settings count."""
    contexts = cycles(1)
    kind, cycle = contexts[0]
    alone = replace(cycle, landscape=replace(cycle.landscape, average=None))
    found = {row.setting.policy for row in simulate([*contexts, (kind, alone)])}
    assert found == {row.setting.policy for row in simulate(contexts)} - {"best_static"}


def test_tallies_of_two_halves_add_up_to_the_whole():
    """Rows, intervals and kinds are the same whichever way the contexts are cut; different settings do not add."""
    contexts = cycles(2)
    halves = [tally(contexts[:1]), tally(contexts[1:])]
    joined = dict(halves[0])
    for kind, one in halves[1].items():
        joined[kind] = joined[kind] + one if kind in joined else one
    assert outcomes(joined) == simulate(contexts)
    every = whole(joined)
    with pytest.raises(ValueError, match="settings: two tallies of different settings given"):
        every + replace(every, settings=every.settings[1:])
