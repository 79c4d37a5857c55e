"""Speculative generation: a cycle drafts trees, verifies their union in one target pass, and keeps what was accepted."""

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter

import numpy as np
from torch import Tensor

from eagle_viz.core.greedy import GreedyCalibration, in_reading
from eagle_viz.core.landscape import RecordedLandscape
from eagle_viz.core.policies import Draft, Policy
from eagle_viz.core.policies.base import MAX_DEPTH
from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.tree import DraftTree
from eagle_viz.core.verification import Verdict, conditional_acceptance, verify_greedy, verify_sampled, written
from eagle_viz.engine.assembly import Contest
from eagle_viz.engine.cycle import Cycle, union, with_target
from eagle_viz.engine.drafted import DraftedLandscape, Drafter
from eagle_viz.engine.reader import TREE_ROWS, Reader
from eagle_viz.engine.sampling import GREEDY, Settings, choose, greedy, processed_rows
from eagle_viz.engine.target import Target
from eagle_viz.engine.texts import TokenTexts


class Generation:
    """An answer in the making: iterate over it to generate, each step is one `Cycle`.

    Stop whenever you like and iterate again to go on; `tokens` is the answer so far. Law: with temperature 0 the answer is the
    target's own greedy one, token for token (up to near-ties, see `check_lossless`). `beside`: policies whose trees are drafted
    below each root too, at these budgets, but not verified: what they score is in each cycle's landscape.
    """

    def __init__(
        self,
        target: Target,
        drafter: Drafter,
        prompt: Sequence[int],
        contest: Contest,
        settings: Settings = GREEDY,
        beside: Sequence[tuple[Policy, int]] = (),
    ):
        if not contest:
            raise ValueError("contest: no policy given, at least one is needed")
        self.target, self.drafter, self.prompt, self.contest, self.settings = target, drafter, list(prompt), contest, settings
        self.beside = tuple(beside)
        self.tokens: list[int] = []
        self.accept_lengths: dict[str, list[int]] = {name: [] for name in contest}
        self.written: dict[str, list[int]] = {name: [] for name in contest}
        self.drafted: dict[str, int] = dict.fromkeys(contest, 0)
        self.expected: dict[str, list[float]] = {name: [] for name in contest}
        self.seconds = {"prefill": 0.0, "draft": 0.0, "verify": 0.0, "rest": 0.0}
        self._draws = [np.random.default_rng([settings.seed, place]).random for place in range(len(contest))]
        self._texts = TokenTexts(target.tokenizer)
        self._reader: Reader | None = None
        self._calibration = calibration_for(drafter, settings)

    @property
    def text(self) -> str:
        """The answer so far."""
        return self.target.decode(self.tokens)

    @property
    def done(self) -> bool:
        """Whether the answer is at its end token or its limit."""
        ended = bool(self.tokens) and self.tokens[-1] in self.target.end_tokens
        return ended or len(self.tokens) >= self.settings.max_new_tokens

    @property
    def passes(self) -> int:
        """Verify passes so far (the prompt's own pass not counted)."""
        return len(next(iter(self.accept_lengths.values())))

    def tau(self, name: str | None = None) -> float:
        """Tokens written per verify pass of one policy (default: the leader): bonus counted, cut at the end token and the limit;
        NaN before the first.

        Law: of the leader it is (answer tokens - 1) / passes, because the prompt's own pass writes the first token.
        """
        counts = self.written[name or next(iter(self.contest))]
        return sum(counts) / len(counts) if counts else float("nan")

    def acceptance(self, name: str | None = None) -> dict[str, object]:
        """What became of one policy's drafted tokens: `by_position` conditional acceptance, `accepted` and `drafted` in all.

        Accepted tokens behind the end token or the limit count here, in tau they do not.
        """
        name = name or next(iter(self.contest))
        lengths = self.accept_lengths[name]
        return {"by_position": conditional_acceptance(lengths), "accepted": sum(lengths), "drafted": self.drafted[name]}

    def expected_tau(self, name: str | None = None) -> float:
        """What the drafter's confidences promised: 1 + mean `expected_accepted` over the same passes."""
        expected = self.expected[name or next(iter(self.contest))]
        return 1 + sum(expected) / len(expected) if expected else float("nan")

    def __iter__(self) -> Iterator[Cycle]:
        if self._reader is None:
            self._reader = self._start()
        while not self.done:
            yield self._cycle(self._reader)

    def _start(self) -> Reader:
        start = perf_counter()
        budgets = [budget for _, budget in self.contest.values()]
        rows = max(TREE_ROWS, sum(budgets) + len(budgets))
        deepest = min(max(budgets + [budget for _, budget in self.beside]), MAX_DEPTH)
        reader = Reader(self.target, self.drafter, self.prompt, self.settings.max_new_tokens, deepest, rows)
        first = choose(reader.first_logits, self.settings, self._draws[0])
        reader.start(first)
        self._add([first])
        self.seconds["prefill"] = perf_counter() - start
        return reader

    def _cycle(self, reader: Reader) -> Cycle:
        start, position = perf_counter(), len(reader.tokens) - 1
        landscape = reader.landscape()
        read = in_reading(landscape, self._calibration)
        drafts = {name: draft_up_to(policy, read, budget)[0] for name, (policy, budget) in self.contest.items()}
        for policy, budget in self.beside:
            draft_up_to(policy, read, budget)
        landscape.close()
        drafted = perf_counter()
        tree = union(drafts.values())
        asked = perf_counter()
        out = reader.verify(tree)
        answered = perf_counter()
        verdicts = self._verdicts(tree, drafts, out.logits)
        counts = self._written(drafts, verdicts)
        tokens = self._commit(reader, tree, drafts, verdicts, out.read)
        known = self._known(landscape, tree, out.logits)
        seconds = {"draft": drafted - start, "verify": answered - asked}
        seconds["rest"] = perf_counter() - start - sum(seconds.values())
        self._count(drafts, verdicts, counts, seconds)
        return Cycle(position, known, drafts, verdicts, tuple(tokens), seconds, counts)

    def _verdicts(self, tree: DraftTree, drafts: Mapping[str, Draft], logits: Tensor) -> dict[str, Verdict]:
        rows = {name: [tree.index[path] for path in draft.tree.paths] for name, draft in drafts.items()}
        if self.settings.temperature == 0:
            best = greedy(logits)
            return {name: verify_greedy(draft.tree, best[rows[name]]) for name, draft in drafts.items()}
        ask = processed_rows(logits, self.settings)
        return {
            name: verify_sampled(draft.tree, lambda node, way=rows[name]: ask(way[node]), draw)
            for (name, draft), draw in zip(drafts.items(), self._draws, strict=True)
        }

    def _written(self, drafts: Mapping[str, Draft], verdicts: Mapping[str, Verdict]) -> dict[str, int]:
        """Tokens that each policy's pass adds to the answer as it stands before this cycle."""
        room = self.settings.max_new_tokens - len(self.tokens)
        said = {
            name: [*(int(draft.tree.tokens[node]) for node in verdicts[name].accepted), verdicts[name].bonus]
            for name, draft in drafts.items()
        }
        return {name: written(tokens, self.target.end_tokens, room) for name, tokens in said.items()}

    def _commit(self, reader: Reader, tree: DraftTree, drafts, verdicts, features: Tensor) -> list[int]:
        leader = next(iter(drafts))
        own, verdict = drafts[leader].tree, verdicts[leader]
        rows = [tree.index[own.paths[node]] for node in verdict.accepted]
        tokens = [*(int(own.tokens[node]) for node in verdict.accepted), verdict.bonus]
        reader.commit(features, rows, tokens)
        return self._add(tokens)

    def _add(self, tokens: list[int]) -> list[int]:
        """Take tokens into the answer, up to its end token or limit; those taken."""
        taken = []
        for token in tokens:
            if self.done:
                break
            self.tokens.append(token)
            taken.append(token)
        return taken

    def _known(self, landscape: DraftedLandscape, tree: DraftTree, logits: Tensor) -> RecordedLandscape:
        candidates = dict(landscape.expanded)
        if self.settings.probabilities:
            candidates |= with_target(candidates, tree, logits)
        return RecordedLandscape(candidates, landscape.root_token, self._texts)

    def _count(self, drafts: Mapping[str, Draft], verdicts, counts: Mapping[str, int], seconds: Mapping[str, float]) -> None:
        for name, verdict in verdicts.items():
            self.accept_lengths[name].append(verdict.accept_length)
            self.written[name].append(counts[name])
            self.drafted[name] += drafts[name].tree.budget
            self.expected[name].append(drafts[name].tree.expected_accepted)
        for name, value in seconds.items():
            self.seconds[name] += value


def calibration_for(drafter: Drafter, settings: Settings) -> GreedyCalibration | None:
    """How the drafter's confidences are read under these settings; None: as they are.

    Raises ValueError where the greedy reading is asked for and the drafter has none.
    """
    if settings.reading == "greedy" and drafter.greedy is None:
        raise ValueError(f"reading: 'greedy' given, but {drafter.name} has no calibration for it, allowed is 'sampling'")
    fits = settings.temperature == 0 if settings.reading is None else settings.reading == "greedy"
    return drafter.greedy if fits else None


def generate(
    target: Target, drafter: Drafter, prompt: str | Sequence[int], contest: Contest, settings: Settings = GREEDY
) -> Generation:
    """Start an answer to one user turn (text), or a continuation of token ids; iterate over the result, cycle by cycle.

    >>> run = generate(target, OracleDrafter(target), "Name a river.", {"eagle2": (Eagle2(), 25)})  # doctest: +SKIP
    >>> for cycle in run: print(target.decode(cycle.tokens))                                        # doctest: +SKIP
    """
    return Generation(target, drafter, target.encode_chat(prompt) if isinstance(prompt, str) else prompt, contest, settings)
