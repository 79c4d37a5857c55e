"""Speculative generation equals plain decoding: token for token if greedy, in distribution if sampled."""

from collections import Counter

import numpy as np
import pytest
import torch

from eagle_viz import POLICIES
from eagle_viz.engine.cycle import union
from eagle_viz.engine.drafted import HeadDrafter, OracleDrafter
from eagle_viz.engine.generation import Generation, generate
from eagle_viz.engine.head import Head, random_eagle3_checkpoint
from eagle_viz.engine.plain import check_lossless, plain
from eagle_viz.engine.sampling import Settings, processed
from tests.engine.tiny import hf_greedy

PROMPT = [2, 17, 40, 5, 66, 1, 3]
EAGLE1, EAGLE2 = POLICIES["eagle1"](), POLICIES["eagle2"](top_k=5, max_depth=5)
BOTH = {"eagle2": (EAGLE2, 20), "eagle1": (EAGLE1, 12)}


def drafter(kind, target):
    if kind == "oracle":
        return OracleDrafter(target)
    if kind == "eagle3":
        return HeadDrafter(Head(random_eagle3_checkpoint(target, torch.arange(40), seed=0), target))
    return HeadDrafter(Head.random(target, draft_vocabulary=40))


@pytest.mark.parametrize("kind", ["oracle", "head", "eagle3"])
@pytest.mark.parametrize("name", ["chain", "eagle1", "eagle2", "best_first"])
def test_greedy_output_is_plain_greedy_decoding(kind, name, tiny_target, hf_llama):
    policy = EAGLE2 if name == "eagle2" else POLICIES[name]()
    for start in (10, 12):
        prompt = [*PROMPT, start]
        run = generate(tiny_target, drafter(kind, tiny_target), prompt, {name: (policy, 8)}, Settings(max_new_tokens=16))
        cycles = list(run)
        assert run.tokens == hf_greedy(hf_llama, prompt, 16)
        assert check_lossless(tiny_target, prompt, run.tokens).to_json() == {
            "identical": True,
            "first_difference": None,
            "gap": None,
        }
        assert run.tokens[1:] == [token for cycle in cycles for token in cycle.tokens]


def test_the_oracle_has_every_node_of_its_chain_accepted(tiny_target):
    run = Generation(tiny_target, OracleDrafter(tiny_target), PROMPT, {"chain": (POLICIES["chain"](), 4)}, Settings(21))
    lengths = [cycle.verdicts["chain"].accept_length for cycle in run]
    assert set(lengths) == {4} and run.tau() == 5 and run.passes == 4


def test_compared_policies_get_what_they_would_get_alone_on_the_same_context(tiny_target):
    """Verified as a union, each policy's verdict equals that of a pass over its own tree."""
    both = list(Generation(tiny_target, drafter("oracle", tiny_target), PROMPT, BOTH, Settings(24)))
    alone = list(Generation(tiny_target, drafter("oracle", tiny_target), PROMPT, {"eagle2": BOTH["eagle2"]}, Settings(24)))
    assert [c.accepted_path("eagle2") for c in both] == [c.accepted_path("eagle2") for c in alone]
    for cycle in both:
        whole = union(cycle.drafts.values())
        assert set(whole.paths) == {path for draft in cycle.drafts.values() for path in draft.tree.paths}
        one, other = (cycle.drafts[name].tree for name in BOTH)
        said = [
            [int(tree.tokens[node]) for node in cycle.verdicts[name].accepted] + [cycle.verdicts[name].bonus]
            for name, tree in (("eagle2", one), ("eagle1", other))
        ]
        shorter = min(map(len, said))
        assert said[0][:shorter] == said[1][:shorter]


def test_the_targets_probabilities_stand_beside_verified_candidates(tiny_target, hf_llama):
    cycle = next(iter(Generation(tiny_target, drafter("head", tiny_target), PROMPT, BOTH, Settings(8))))
    tree, root = cycle.drafts["eagle2"].tree, cycle.landscape.root_token
    for path in tree.paths[:4]:
        row = cycle.landscape.candidates.get(path)
        if row is not None:
            text = [*PROMPT, root, *(int(tree.tokens[node]) for node in tree.ancestry(tree.index[path])[1:])]
            with torch.no_grad():
                wanted = hf_llama(torch.tensor([text])).logits[0, -1].double().softmax(0)[row.tokens]
            np.testing.assert_allclose(row.target_probabilities, wanted.numpy(), atol=2e-5)


def test_counts_and_times_add_up(tiny_target):
    run = Generation(tiny_target, drafter("head", tiny_target), PROMPT, BOTH, Settings(20))
    cycles = list(run)
    assert run.tau("eagle1") == np.mean([cycle.written["eagle1"] for cycle in cycles]) and run.tau() == 19 / run.passes
    assert run.passes == len(cycles)
    assert run.expected_tau() == pytest.approx(1 + np.mean([c.drafts["eagle2"].tree.expected_accepted for c in cycles]))
    for part in ("draft", "verify", "rest"):
        assert run.seconds[part] == pytest.approx(sum(cycle.seconds[part] for cycle in cycles))
    entry = cycles[0].to_json()["policies"]["eagle2"]
    assert entry["budget"] == 20 and entry["passes"] == 5 and cycles[0].position == len(PROMPT)


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_the_limit_is_exact_and_cuts_tau(limit, tiny_target):
    run = Generation(tiny_target, OracleDrafter(tiny_target), PROMPT, {"chain": (POLICIES["chain"](), 4)}, Settings(limit))
    cycles = list(run)
    assert len(run.tokens) == limit and run.done
    assert run.passes == len(cycles) == -(-(limit - 1) // 5)
    assert np.isnan(run.tau()) if limit == 1 else run.tau() == (limit - 1) / run.passes


def test_nothing_follows_the_end_token(tiny_target):
    """Whatever token plain decoding says at place 5, declared an end token, ends the answer there."""
    wanted = [token for token, _ in plain(tiny_target, PROMPT, Settings(12))]
    end = wanted[5]
    ends, tiny_target.config.eos_token_id = tiny_target.config.eos_token_id, end
    try:
        run = Generation(tiny_target, OracleDrafter(tiny_target), PROMPT, {"chain": (POLICIES["chain"](), 4)}, Settings(12))
        list(run)
        assert run.tokens == wanted[: wanted.index(end) + 1]
        assert run.tau() == (len(run.tokens) - 1) / run.passes
    finally:
        tiny_target.config.eos_token_id = ends


def test_generation_can_be_stopped_between_cycles_and_go_on(tiny_target):
    run = Generation(tiny_target, OracleDrafter(tiny_target), PROMPT, BOTH, Settings(40))
    next(iter(run))
    assert run.passes == 1 and 1 < len(run.tokens) < 40 and not run.done
    list(run)
    whole = Generation(tiny_target, OracleDrafter(tiny_target), PROMPT, BOTH, Settings(40))
    list(whole)
    assert run.tokens == whole.tokens and run.passes == whole.passes


def test_a_seed_gives_one_text_whoever_is_compared(tiny_target):
    settings = Settings(16, temperature=0.8, seed=3)
    alone = {"eagle2": BOTH["eagle2"]}
    texts = []
    for contest in (alone, alone, BOTH):
        run = Generation(tiny_target, drafter("head", tiny_target), PROMPT, contest, settings)
        list(run)
        texts.append(run.tokens)
    assert texts[0] == texts[1] == texts[2]


def exact_distribution(target, settings, count):
    """Probability of every text of `count` tokens, by walking the processed distributions."""
    texts = {(): 1.0}
    for _ in range(count):
        longer = {}
        for said, chance in texts.items():
            p = processed(target.forward([*PROMPT, *said]).logits[-1], settings.temperature, settings.top_p)
            longer.update({(*said, int(token)): chance * p[token] for token in np.flatnonzero(p)})
        texts = longer
    return texts


def test_sampled_texts_are_distributed_as_the_target_samples(tiny_target):
    """200 seeded texts of three tokens, drafted by the oracle so that paths are accepted, against the exact distribution."""
    wanted = exact_distribution(tiny_target, Settings(3, temperature=0.6, top_p=0.5), 3)
    contest, seen, count = {"eagle2": (POLICIES["eagle2"](top_k=3, max_depth=2), 6)}, Counter(), 200
    accepted = 0
    for seed in range(count):
        run = Generation(tiny_target, OracleDrafter(tiny_target, top_k=3), PROMPT, contest, Settings(3, 0.6, 0.5, seed, False))
        accepted += sum(cycle.verdicts["eagle2"].accept_length for cycle in run)
        seen[tuple(run.tokens)] += 1
    assert set(seen) <= set(wanted) and accepted > count / 4
    for said, chance in wanted.items():
        assert seen[said] / count == pytest.approx(chance, abs=4.5 * (chance / count) ** 0.5 + 1 / count)


def test_bad_settings_and_prompts_are_sentences(tiny_target):
    with pytest.raises(ValueError, match="max_new_tokens: 0 given"):
        Settings(0)
    with pytest.raises(ValueError, match="temperature: -1"):
        Settings(8, temperature=-1)
    with pytest.raises(ValueError, match="contest: no policy"):
        Generation(tiny_target, OracleDrafter(tiny_target), PROMPT, {})
    with pytest.raises(ValueError, match="prompt: 500 tokens given, allowed is 1 to 480"):
        list(Generation(tiny_target, OracleDrafter(tiny_target), [4] * 500, {"eagle2": (EAGLE2, 20)}, Settings(12)))
    with pytest.raises(ValueError, match="prompt: 0 tokens"):
        list(Generation(tiny_target, OracleDrafter(tiny_target), [], BOTH, Settings(12)))
