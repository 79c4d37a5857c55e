"""Speculative generation: a cycle drafts trees, verifies their union in one target pass, and keeps what was accepted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
import torch
from torch import Tensor

from eagle_viz.core.landscape import Candidates, RecordedLandscape
from eagle_viz.core.policies import Draft, Policy
from eagle_viz.core.policies.base import MAX_DEPTH
from eagle_viz.core.readout import draft_up_to
from eagle_viz.core.tree import DraftTree, Node, Path, path_name
from eagle_viz.core.verification import Verdict, conditional_acceptance, sample, verify_greedy, verify_sampled, written
from eagle_viz.engine.drafted import DraftedLandscape, Drafter, TokenTexts
from eagle_viz.engine.exact import below_float32
from eagle_viz.engine.sampling import check_sampling, greedy, processed
from eagle_viz.engine.target import Target, TargetPass

Contest = Mapping[str, tuple[Policy, int]]
"""The compared policies by a name of one's own, each with its budget (root not counted); the first one leads."""

TREE_ROWS = 1024
"""Cache rows kept free for trees behind the text."""
NEAR_TIE = 1e-4
"""Two logits closer than this may swap with the width of a batch: a difference there is reported, not called a loss."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """One cycle: what each policy drafted below the same root, what the target made of it, and what the text gained.

    `position` index of the root in the text (prompt included). `landscape` everything drafted in this cycle, with the
    target's own probabilities (temperature 1) below every verified node if they were asked for. `tokens` what the
    leader added to the text: its accepted tokens and the bonus, cut at the end token or at the limit. `seconds` of
    `draft` (all compared policies), `verify` (the target's pass) and `rest`. `written` how many tokens each policy's pass
    would have added, cut the same way.
    """

    position: int
    landscape: RecordedLandscape
    drafts: Mapping[str, Draft]
    verdicts: Mapping[str, Verdict]
    tokens: tuple[int, ...]
    seconds: Mapping[str, float]
    written: Mapping[str, int]

    @property
    def leader(self) -> str:
        """Name of the policy whose accepted tokens entered the text."""
        return next(iter(self.drafts))

    def accepted_path(self, name: str) -> Path:
        """The deepest accepted path of one policy, `()` where nothing was accepted."""
        accepted = self.verdicts[name].accepted
        return self.drafts[name].tree.paths[accepted[-1]] if accepted else ()

    def to_json(self) -> dict:
        """Plain numbers: per policy budget, passes, expected and accepted tokens (bonus not counted), and the text gained."""
        policies = {
            name: {
                "budget": draft.budget,
                "passes": draft.passes,
                "depth": draft.tree.depth,
                "expected_accepted": draft.tree.expected_accepted,
                "accept_length": self.verdicts[name].accept_length,
                "written": self.written[name],
                "accepted": path_name(self.accepted_path(name)),
                "bonus": self.verdicts[name].bonus,
            }
            for name, draft in self.drafts.items()
        }
        return {"position": self.position, "tokens": list(self.tokens), "policies": policies, "seconds": dict(self.seconds)}


@dataclass(frozen=True)
class Settings:
    """How to generate: at most `max_new_tokens` (the first, from the prompt's own pass, counted), sampled if `temperature` > 0.

    Raises ValueError naming the field. The same `seed` gives the same text; who else is compared does not change it.
    """

    max_new_tokens: int = 128
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    probabilities: bool = True

    def __post_init__(self):
        if not 1 <= self.max_new_tokens <= 100_000:
            raise ValueError(f"max_new_tokens: {self.max_new_tokens!r} given, allowed is a whole number from 1 to 100000")
        check_sampling(self.temperature, self.top_p)
        if self.seed < 0:
            raise ValueError(f"seed: {self.seed} given, allowed is a whole number from 0")


class Reader:
    """A text that a target reads and a drafter continues: all but its last token, the root, is in the target's cache."""

    def __init__(self, target: Target, drafter: Drafter, prompt: Sequence[int], grow: int, depth: int, rows: int = TREE_ROWS):
        """Read the prompt; the text may `grow` by so many tokens, with trees of up to `depth` levels and `rows` nodes behind it.

        `first_logits` [V] tell the token after the prompt (see `start`). Raises ValueError for a prompt that is too long.
        """
        check_length(target, len(prompt), grow + depth)
        self.target, self.drafter, self.tokens = target, drafter, list(prompt)
        capacity = len(prompt) + grow + rows
        self.cache = target.new_cache(capacity)
        drafter.begin(self.cache, capacity)
        out = target.forward(self.tokens, cache=self.cache, taps=drafter.taps)
        self.first_logits, self._features = out.logits[-1], out.read

    @property
    def root(self) -> int:
        """The last committed token."""
        return self.tokens[-1]

    def start(self, token: int) -> None:
        """Commit the first token after the prompt."""
        self._grow(self._features, [token])

    def landscape(self) -> DraftedLandscape:
        """What the drafter expects below the root."""
        return self.drafter.landscape(self.root)

    def verify(self, tree: DraftTree) -> TargetPass:
        """One target pass over root and tree: position = prefix + depth, tree mask, whole prefix visible."""
        start = self.cache.length
        mask = torch.from_numpy(tree.mask())
        positions = tree.position_ids() + start
        return self.target.forward(tree.tokens.tolist(), mask, positions, self.cache, taps=self.drafter.taps)

    def commit(self, features: Tensor, accepted: Sequence[int], tokens: Sequence[int]) -> None:
        """Keep the cache rows of root and accepted nodes, drop the rest; `tokens` are the accepted ones and the bonus.

        `features` [n, W] (`TargetPass.read`) and `accepted` (node indices, root not among them) are those of the verified tree.
        """
        rows = [0, *accepted]
        self.cache.keep(len(self.tokens) - 1, rows)
        self._grow(features[rows], tokens)

    def extend(self, tokens: Sequence[int]) -> None:
        """Read tokens that are known to come next (a text generated before), the last of them becoming the root."""
        if tokens:
            out = self.target.forward([self.root, *tokens[:-1]], cache=self.cache, taps=self.drafter.taps)
            self._grow(out.read, tokens)

    def _grow(self, features: Tensor, tokens: Sequence[int]) -> None:
        self.tokens += tokens
        self.drafter.commit(features, self.tokens[-len(features) :])


def check_length(target: Target, prompt: int, reserve: int) -> None:
    """Raise ValueError where a prompt is empty or leaves no room for `reserve` positions."""
    room = target.longest_text
    if not 1 <= prompt <= room - reserve:
        raise ValueError(
            f"prompt: {prompt} tokens given, allowed is 1 to {max(0, room - reserve)} "
            f"(the target reads {room}, of which the answer and its trees need {reserve})"
        )


class Generation:
    """An answer in the making: iterate over it to generate, each step is one `Cycle`.

    Stop whenever you like and iterate again to go on; `tokens` is the answer so far. Law: with temperature 0 the answer is the
    target's own greedy one, token for token (up to near-ties, see `check_lossless`).
    """

    def __init__(self, target: Target, drafter: Drafter, prompt: Sequence[int], contest: Contest, settings: Settings = Settings()):
        if not contest:
            raise ValueError("contest: no policy given, at least one is needed")
        self.target, self.drafter, self.prompt, self.contest, self.settings = target, drafter, list(prompt), contest, settings
        self.tokens: list[int] = []
        self.accept_lengths: dict[str, list[int]] = {name: [] for name in contest}
        self.written: dict[str, list[int]] = {name: [] for name in contest}
        self.drafted: dict[str, int] = dict.fromkeys(contest, 0)
        self.expected: dict[str, list[float]] = {name: [] for name in contest}
        self.seconds = {"prefill": 0.0, "draft": 0.0, "verify": 0.0, "rest": 0.0}
        self._draws = [np.random.default_rng([settings.seed, place]).random for place in range(len(contest))]
        self._texts = TokenTexts(target.tokenizer)
        self._reader: Reader | None = None

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
        reader = Reader(self.target, self.drafter, self.prompt, self.settings.max_new_tokens, min(max(budgets), MAX_DEPTH), rows)
        first = choose(reader.first_logits, self.settings, self._draws[0])
        reader.start(first)
        self._add([first])
        self.seconds["prefill"] = perf_counter() - start
        return reader

    def _cycle(self, reader: Reader) -> Cycle:
        start, position = perf_counter(), len(reader.tokens) - 1
        landscape = reader.landscape()
        drafts = {name: draft_up_to(policy, landscape, budget)[0] for name, (policy, budget) in self.contest.items()}
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


def generate(
    target: Target, drafter: Drafter, prompt: str | Sequence[int], contest: Contest, settings: Settings = Settings()
) -> Generation:
    """Start an answer to one user turn (text), or a continuation of token ids; iterate over the result, cycle by cycle.

    >>> run = generate(target, OracleDrafter(target), "Name a river.", {"eagle2": (Eagle2(), 25)})  # doctest: +SKIP
    >>> for cycle in run: print(target.decode(cycle.tokens))                                        # doctest: +SKIP
    """
    return Generation(target, drafter, target.encode_chat(prompt) if isinstance(prompt, str) else prompt, contest, settings)


def union(drafts) -> DraftTree:
    """The smallest tree that holds the trees of all drafts over one landscape; one pass over it verifies them all."""
    trees = [draft.tree for draft in drafts]
    if len(trees) == 1:
        return trees[0]
    nodes: dict[Path, Node] = {node.path: node for tree in trees for node in tree.nodes()}
    return DraftTree.from_nodes(nodes.values(), int(trees[0].tokens[0]))


def choose(logits: Tensor, settings: Settings, draw: Callable[[], float]) -> int:
    """The next token from logits [V]: the first largest if greedy, drawn from the processed distribution otherwise."""
    if settings.temperature == 0:
        return int(greedy(logits))
    return sample(processed(logits, settings.temperature, settings.top_p), draw())


def processed_rows(logits: Tensor, settings: Settings) -> Callable[[int], np.ndarray]:
    """The processed distribution after each row, made when first asked for."""
    known: dict[int, np.ndarray] = {}

    def ask(row: int) -> np.ndarray:
        if row not in known:
            known[row] = processed(logits[row], settings.temperature, settings.top_p)
        return known[row]

    return ask


def with_target(candidates: Mapping[Path, Candidates], tree: DraftTree, logits: Tensor) -> dict[Path, Candidates]:
    """The candidates below every verified node, each with the target's probability at temperature 1 beside its confidence.

    Those that know it already are left out, as are nodes that were not verified.
    """
    paths = [path for path in candidates if path in tree.index and candidates[path].target_probabilities is None]
    if not paths:
        return {}
    rows = logits[[tree.index[path] for path in paths]].float()
    tokens = torch.from_numpy(np.stack([candidates[path].tokens for path in paths]))
    chosen = rows.gather(1, tokens).double() - rows.logsumexp(dim=1, keepdim=True).double()
    prices = below_float32(chosen.exp().clamp(max=1).numpy()).astype(np.float64)
    return {
        path: Candidates(candidates[path].tokens, candidates[path].confidences, row)
        for path, row in zip(paths, prices, strict=True)
    }


# -- against plain decoding --------------------------------------------------------------------------------------------


def plain(target: Target, prompt: Sequence[int], settings: Settings = Settings()) -> Iterator[tuple[int, Tensor]]:
    """Plain decoding, a token a pass: each token with the logits [V] that it was chosen from."""
    check_length(target, len(prompt), settings.max_new_tokens)
    cache = target.new_cache(len(prompt) + settings.max_new_tokens)
    draw = np.random.default_rng([settings.seed, 0]).random
    tokens: Sequence[int] = prompt
    for _ in range(settings.max_new_tokens):
        logits = target.forward(tokens, cache=cache).logits[-1]
        token = choose(logits, settings, draw)
        yield token, logits
        if token in target.end_tokens:
            return
        tokens = [token]


@dataclass(frozen=True)
class LosslessCheck:
    """A greedy answer against plain greedy decoding: the first token that differs, and how near the target was to a tie there.

    `gap` difference of the target's two largest logits at that place; `plain` the tokens of plain decoding.
    """

    identical: bool
    first_difference: int | None
    gap: float | None
    plain: tuple[int, ...] = field(repr=False)

    @property
    def near_tie(self) -> bool:
        """Whether the outputs part only where two logits are closer than 1e-4."""
        return self.gap is not None and self.gap < NEAR_TIE

    def to_json(self) -> dict:
        """`identical`, `first_difference` (index among the answer's tokens, or null) and `gap` (null where identical)."""
        return {"identical": self.identical, "first_difference": self.first_difference, "gap": self.gap}


def check_lossless(target: Target, prompt: Sequence[int], answer: Sequence[int]) -> LosslessCheck:
    """Compare a greedy answer with plain greedy decoding of the same length, token for token."""
    wanted: list[int] = []
    for place, (token, logits) in enumerate(plain(target, prompt, Settings(max_new_tokens=max(1, len(answer))))):
        wanted.append(token)
        if place >= len(answer) or token != answer[place]:
            best = logits.float().topk(2).values
            return LosslessCheck(False, place, float(best[0] - best[1]), tuple(wanted))
    return LosslessCheck(len(wanted) == len(answer), None if len(wanted) == len(answer) else len(wanted), None, tuple(wanted))
