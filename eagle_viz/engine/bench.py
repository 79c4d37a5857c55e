"""Decoding measured: plain, prompt lookup and drafted trees on the same prompts."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter

import torch

from eagle_viz.core.policies import Chain, Eagle1, Eagle2, Policy
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.generation import Generation
from eagle_viz.engine.head import Head
from eagle_viz.engine.plain import plain
from eagle_viz.engine.prompts import Prompt
from eagle_viz.engine.sampling import Settings
from eagle_viz.engine.target import Target

LOOKUP_TOKENS = 10
"""Tokens that prompt lookup drafts at most, as Hugging Face's documentation suggests."""
DTYPES = (torch.float32, torch.bfloat16)


@dataclass(frozen=True)
class Method:
    """A way to decode: `plain`, `prompt_lookup` (no policy), or a policy with its budget (root not counted)."""

    name: str
    policy: Policy | None = None
    budget: int = 0


METHODS: tuple[Method, ...] = (
    Method("plain"),
    Method("prompt_lookup"),
    Method("chain", Chain(), 4),
    Method("eagle1", Eagle1(), 25),
    *(Method("eagle2", Eagle2(), budget) for budget in (8, 16, 25, 40, 59)),
    *(Method("eagle2_early", Eagle2(early_stop=True), budget) for budget in (8, 16, 25)),
    *(Method("eagle2_narrow", Eagle2(top_k=4, max_depth=4, early_stop=True), budget) for budget in (8, 16)),
)
"""Compared by default: EAGLE-2 with top_k 10 and 6 levels as published; the same trees without the draft passes that cannot change
them; and a cheaper draft (top_k 4, 4 levels)."""


@dataclass(frozen=True)
class Sample:
    """One answer decoded one way. `seconds` is everything, the prompt's own pass included; `tokens` of the answer.

    `first_difference` where the answer parts from plain decoding in the first dtype (float32), None where it never does; `gap` the
    difference of this target's two largest logits there. `passes` the target's passes after the prompt's own, `produced` the
    tokens they wrote, cut at the end token and the limit (`produced / passes` is tau). `expected` sum of 1 + expected_accepted
    over the passes, 0 where nothing is expected. `draft`, `verify`, `rest` split the cycles' seconds.
    """

    name: str
    dtype: str
    budget: int
    prompt: str
    kind: str
    tokens: int
    seconds: float
    passes: int
    produced: int
    expected: float = 0.0
    draft: float = 0.0
    verify: float = 0.0
    rest: float = 0.0
    first_difference: int | None = None
    gap: float | None = None

    @property
    def identical(self) -> bool:
        """Whether the answer is that of plain decoding."""
        return self.first_difference is None


@dataclass(frozen=True)
class Row:
    """Samples of one method together: tokens a second over all of them, tau, and how many answers equal the plain ones
    (`identical`).

    `widest_gap` the largest logit gap where one parts from plain decoding (None: none parts): under 1e-4 it is a near-tie.

    `draft`, `verify`, `rest` are shares of the cycles' time. None: nothing to divide (no pass, no draft), or (`kind`) all
    kinds of text.
    """

    name: str
    dtype: str
    budget: int
    kind: str | None
    prompts: int
    tokens: int
    tokens_per_second: float
    passes: int
    tau: float | None
    expected_tau: float | None
    draft: float | None
    verify: float | None
    rest: float | None
    identical: int
    widest_gap: float | None


@dataclass(frozen=True)
class DecodeBench:
    """Every sample of a run, and what they add up to."""

    samples: tuple[Sample, ...]
    threads: int

    def rows(self, by_kind: bool = False) -> tuple[Row, ...]:
        """A row a method, dtype and budget, in the order measured; `by_kind`: a row for each kind of text as well."""
        groups: dict[tuple, list[Sample]] = {}
        for sample in self.samples:
            key = (sample.name, sample.dtype, sample.budget, sample.kind if by_kind else None)
            groups.setdefault(key, []).append(sample)
        return tuple(_row(key, group) for key, group in groups.items())

    def best_plain(self) -> Row:
        """The fastest plain decoding, whatever its dtype: the baseline that speculation has to beat."""
        return max((row for row in self.rows() if row.name == "plain"), key=lambda row: row.tokens_per_second)

    def to_json(self) -> dict:
        """Rows over all prompts and by kind of text, the samples behind them, and the number of threads."""
        return {
            "threads": self.threads,
            "rows": [asdict(row) for row in self.rows()],
            "by_kind": [asdict(row) for row in self.rows(by_kind=True)],
            "samples": [asdict(sample) for sample in self.samples],
        }


def _row(key: tuple, group: Sequence[Sample]) -> Row:
    def total(field: str) -> float:
        return sum(getattr(sample, field) for sample in group)

    name, dtype, budget, kind = key
    passes, cycles = total("passes"), total("draft") + total("verify") + total("rest")
    shares = [total(part) / cycles if cycles else None for part in ("draft", "verify", "rest")]
    tau = total("produced") / passes if passes else None
    expected = total("expected") / passes if total("expected") else None
    speed = total("tokens") / total("seconds")
    gap = max((sample.gap for sample in group if sample.gap is not None), default=None)
    counts = (len(group), total("tokens"), speed, passes, tau, expected, *shares, total("identical"), gap)
    return Row(name, dtype, budget, kind, *counts)


def bench_decode(
    target_folder: str | Path,
    head_folder: str | Path,
    prompts: Sequence[Prompt],
    max_new_tokens: int = 128,
    methods: Sequence[Method] = METHODS,
    dtypes: Sequence[torch.dtype] = DTYPES,
    report: Callable[[Row], None] = lambda row: None,
) -> DecodeBench:
    """Decode the same prompts greedily by every method in every dtype; each method warms up on the first prompt, unmeasured.

    `report` gets each method's row as soon as it is done. Raises ValueError without a prompt.
    """
    if not prompts:
        raise ValueError("prompts: none given, at least one is needed")
    settings = Settings(max_new_tokens, probabilities=False)
    wanted: dict[str, list[int]] = {}
    samples: list[Sample] = []
    for dtype in dtypes:
        decoders = Decoders(target_folder, head_folder, dtype)
        wanted = wanted or {prompt.name: decoders.decode(Method("plain"), prompt, settings)[0] for prompt in prompts}
        for method in methods:
            decoders.decode(method, prompts[0], Settings(8, probabilities=False))
            for prompt in prompts:
                tokens, sample = decoders.decode(method, prompt, settings)
                samples.append(decoders.compare(prompt, sample, tokens, wanted[prompt.name]))
            report(_row((method.name, decoders.dtype, method.budget, None), samples[-len(prompts) :]))
    return DecodeBench(tuple(samples), torch.get_num_threads())


class Decoders:
    """A target and a head in one dtype, and the ways to decode with them."""

    def __init__(self, target_folder: str | Path, head_folder: str | Path, dtype: torch.dtype):
        self.folder, self.torch_dtype = target_folder, dtype
        self.dtype = str(dtype).removeprefix("torch.")
        self.target = Target.load(target_folder, dtype)
        self.drafter = HeadDrafter(Head.load(head_folder, self.target))
        self._model = None

    def decode(self, method: Method, prompt: Prompt, settings: Settings) -> tuple[list[int], Sample]:
        """The answer's tokens and how they were made."""
        ids, start = prompt.encode(self.target), perf_counter()
        tokens, counts = self._run(method, ids, settings)
        seconds = perf_counter() - start
        common = (method.name, self.dtype, method.budget, prompt.name, prompt.kind)
        return tokens, Sample(*common, tokens=len(tokens), seconds=seconds, **counts)

    def compare(self, prompt: Prompt, sample: Sample, tokens: Sequence[int], wanted: Sequence[int]) -> Sample:
        """The sample with the place where its answer parts from the wanted one, and how near to a tie this target is there."""
        if tokens == wanted:
            return sample
        pairs = enumerate(zip(tokens, wanted, strict=False))
        place = next((i for i, (one, other) in pairs if one != other), min(len(tokens), len(wanted)))
        text = [*prompt.encode(self.target), *wanted[:place]]
        best = self.target.forward(text).logits[-1].float().topk(2).values
        return replace(sample, first_difference=place, gap=float(best[0] - best[1]))

    def _run(self, method: Method, ids: list[int], settings: Settings) -> tuple[list[int], dict]:
        if method.policy is not None:
            return self._drafted(method, ids, settings)
        if method.name == "prompt_lookup":
            return self._prompt_lookup(ids, settings)
        tokens = [token for token, _ in plain(self.target, ids, settings)]
        return tokens, {"passes": len(tokens) - 1, "produced": len(tokens) - 1}

    def _drafted(self, method: Method, ids: list[int], settings: Settings) -> tuple[list[int], dict]:
        run = Generation(self.target, self.drafter, ids, {method.name: (method.policy, method.budget)}, settings)
        for _ in run:
            pass
        expected = run.expected[method.name]
        parts = {part: run.seconds[part] for part in ("draft", "verify", "rest")}
        made = {"produced": len(run.tokens) - 1, "expected": sum(expected) + run.passes}
        return run.tokens, {"passes": run.passes, **made, **parts}

    def _prompt_lookup(self, ids: list[int], settings: Settings) -> tuple[list[int], dict]:
        """Hugging Face's assisted generation with n-grams of the text itself as the draft, around Hugging Face's own forward."""
        model = self._hugging_face()
        passes = _count_forwards(model)
        inputs = torch.tensor([ids])
        with torch.inference_mode():
            out = model.generate(
                inputs,
                attention_mask=torch.ones_like(inputs),
                do_sample=False,
                max_new_tokens=settings.max_new_tokens,
                prompt_lookup_num_tokens=LOOKUP_TOKENS,
                pad_token_id=min(self.target.end_tokens),
            )
        tokens = out[0, len(ids) :].tolist()
        count = passes()
        return tokens, {"passes": count - 1, "produced": len(tokens) - 1}

    def _hugging_face(self):
        if self._model is None:
            from transformers import AutoModelForCausalLM

            self._model = AutoModelForCausalLM.from_pretrained(self.folder, dtype=self.torch_dtype).eval()
        return self._model


def _count_forwards(model) -> Callable[[], int]:
    """Count a module's forward calls from now on; the answer stops counting and says how many there were."""
    count = 0

    def called(*_) -> None:
        nonlocal count
        count += 1

    handle = model.register_forward_hook(called)

    def stop() -> int:
        handle.remove()
        return count

    return stop
