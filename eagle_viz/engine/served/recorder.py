"""Recordings of served models: the target's greedy answer, and below its roots what the drafter and the target say. No torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from eagle_viz.core.landscape import Candidates
from eagle_viz.core.policies import BestStatic
from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.recording import MAX_BUDGET, LiveVerdict, Recording, follow
from eagle_viz.core.tree import DraftTree, Path
from eagle_viz.core.verification import Verdict
from eagle_viz.engine.assembly import (
    TAIL,
    Contest,
    Context,
    Progress,
    Text,
    assemble,
    average_of_others,
    averaged,
    candidate_tokens,
    evenly,
    standard_contest,
    told,
)
from eagle_viz.engine.expansion import HOLDS, Expand, Expanded, expand_all
from eagle_viz.engine.prompts import Prompt

from .landscape import ServedLandscape
from .model import ServedModel
from .vocabulary import same_vocabulary

Told = Callable[[Progress], None]


class Pair(NamedTuple):
    """Who drafts and who answers; ``target`` None: the model drafts for itself."""

    drafter: ServedModel
    target: ServedModel | None = None

    @property
    def writer(self) -> ServedModel:
        """Whose text it is."""
        return self.target or self.drafter

    @property
    def name(self) -> str:
        """The drafter's name in a recording."""
        return "oracle" if self.target is None else self.drafter.title

    def below(self, text: Text, root: int) -> ServedLandscape:
        """The landscape below the token at index ``root``."""
        return ServedLandscape(self.drafter, text.tokens[: root + 1], target=self.target)


class ServedTokenizer:
    """A served model's tokenizer as `engine.texts` uses one; ``skipped`` is left out of decoded answers."""

    def __init__(self, model: ServedModel, skipped: int | None) -> None:
        self._model, self._skipped, self._known = model, skipped, {}

    def warm(self, tokens: Sequence[int]) -> None:
        """Ask for many single tokens at once."""
        self._known |= self._model.texts([token for token in tokens if token not in self._known])

    def decode(self, tokens: Sequence[int], skip_special_tokens: bool = False, clean_up_tokenization_spaces: bool = False) -> str:
        """The text of token ids; the server tidies no spaces away."""
        if skip_special_tokens:
            tokens = [token for token in tokens if token != self._skipped]
        if len(tokens) != 1:
            return self._model.decode(tokens) if tokens else ""
        (token,) = tokens
        if token not in self._known:
            self._known[token] = self._model.decode([token])
        return self._known[token]

    def __len__(self) -> int:
        return len(self._known)


def record_served(
    drafter: ServedModel,
    target: ServedModel | None,
    prompts: Sequence[Prompt],
    contest: Contest | None = None,
    max_new_tokens: int = 64,
    contexts: int | None = None,
    expand: Expand = expand_all,
    holds: Mapping[str, object] = HOLDS,
    report: Told = lambda progress: None,
) -> list[Recording]:
    """Record the target's greedy answers to these prompts as `engine.recorder.record` does, by asking servers alone.

    ``target`` None: the model drafts for itself. What the compared policies accept is read off the answer, which equals verifying
    their trees; times are not recorded, since those of a server asked path by path say nothing of an engine.
    Raises ``ServedError`` in one sentence, also for two models of different vocabularies.
    """
    pair = Pair(drafter, target)
    if target is not None:
        same_vocabulary(drafter, target)
    runs = [ServedRun(pair, prompt, max_new_tokens, contexts, contest, report) for prompt in prompts]
    made = [run.record(expand, holds) for run in runs]
    return [run.with_average(one, made) for run, one in zip(runs, made, strict=True)]


class ServedRun:
    """One answer, its roots, and the landscapes that were asked about below them; arguments as of ``record_served``."""

    def __init__(
        self,
        pair: Pair,
        prompt: Prompt,
        limit: int,
        contexts: int | None = None,
        contest: Contest | None = None,
        report: Told = lambda progress: None,
    ) -> None:
        asked = prompt.encode(pair.writer)
        answer = pair.writer.greedy(asked, limit + TAIL)
        self.pair, self.prompt, self.contest, self._report = pair, prompt, contest or standard_contest(), report
        self.text = Text((*asked, *answer.tokens), len(asked), min(limit, len(answer.tokens)))
        self.tokenizer = ServedTokenizer(pair.writer, answer.tokens[-1] if answer.ended else None)
        self._contexts = contexts

    @cached_property
    def cycles(self) -> list[tuple[int, ServedLandscape, tuple[LiveVerdict, ...]]]:
        """The roots that are recorded, each with the landscape below it and what the compared policies got there; drafted once."""
        return evenly(list(self._cycles()), self._contexts)

    def _cycles(self) -> Iterator[tuple[int, ServedLandscape, tuple[LiveVerdict, ...]]]:
        """Roots from the answer's first token on, each a pass of the leading policy further."""
        root = self.text.prompt_length
        while root < self.text.end - 1:
            landscape, continuation = self.pair.below(self.text, root), self.text.tokens[root + 1 :]
            drafts = {name: draft_up_to(policy, landscape, budget)[0] for name, (policy, budget) in self.contest.items()}
            verdicts = {name: follow(draft.tree, continuation) for name, draft in drafts.items()}
            live = tuple(_live(name, drafts[name].tree, verdict) for name, verdict in verdicts.items())
            yield root, landscape, live
            root += live[0].accept_length + 1
            done = min(root, self.text.end) - self.text.prompt_length
            self._report(Progress(self.prompt.name, "generate", done, self.text.answer_length))

    def kinds(self) -> list[str]:
        """Of each of the answer's tokens: "first", "accepted" by the leading policy's pass, or its "bonus"."""
        bonus = {root + live[0].accept_length + 1 for root, _, live in self.cycles}
        places = range(self.text.prompt_length, self.text.end)
        return ["first", *("bonus" if place in bonus else "accepted" for place in places[1:])]

    def record(self, expand: Expand, holds: Mapping[str, object]) -> Recording:
        """The recording of this answer, without an average."""
        found = []
        for root, landscape, live in self.cycles:
            found.append(Context(root, expand(landscape, partial(_beside, landscape)), live))
            self._report(Progress(self.prompt.name, "record", len(found), len(self.cycles)))
        self.tokenizer.warm(sorted(set(candidate_tokens([context.known for context in found]))))
        made = {"server": self.pair.writer.dialect.name, "live": told(self.contest), "holds": dict(holds)}
        return assemble(self.prompt, self.text, self.pair.writer.title, self.pair.name, found, self.tokenizer, made)

    def with_average(self, one: Recording, made: Sequence[Recording]) -> Recording:
        """The same with the average of the others that were made with it, if there are any."""
        average = average_of_others(one, made)
        if average is None:
            return one
        known = []
        for cycle, (_, landscape, _) in zip(one.cycles, self.cycles, strict=True):
            draft_up_to(BestStatic(average=average), landscape, MAX_BUDGET)
            known.append(_beside(landscape, cycle.landscape.candidates))
        return averaged(one, average, known, self.tokenizer)


def _beside(landscape: ServedLandscape, known: Expanded) -> dict[Path, Candidates]:
    """What was expanded beside what is known: the target was asked in the same breath (`expansion.Price`)."""
    return {path: row for path, row in landscape.expanded.items() if path not in known}


def _live(name: str, tree: DraftTree, verdict: Verdict) -> LiveVerdict:
    path = tree.paths[verdict.accepted[-1]] if verdict.accepted else ()
    return LiveVerdict(name, tree.budget, path, verdict.bonus)
