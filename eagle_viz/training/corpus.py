"""The training corpus: prompts by template and by the target itself, answered by the target, kept as token ids."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from eagle_viz.engine.target import Target
from eagle_viz.training.prompts import draw_prompts
from eagle_viz.training.sampler import Answer, sample_batch

TEMPERATURES = (0.0, 0.7, 0.0, 1.0)  # in turn; greedy twice: hotter answers of a small target lose their thread
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class CorpusPlan:
    """What to sample: `batches` times `batch` answers of at most `limit` tokens.

    One batch in `template_every` answers templates; the others answer prompts that the target wrote itself, which are far
    more varied.
    """

    seed: int = 2024
    batches: int = 48
    batch: int = 224
    limit: int = 256
    template_every: int = 4

    def __post_init__(self):
        for field in ("batches", "batch", "limit", "template_every"):
            if getattr(self, field) < 1:
                raise ValueError(f"{field} must be at least 1, got {getattr(self, field)}")


@dataclass(frozen=True)
class Corpus:
    """Answered prompts as one run of token ids.

    tokens        uint16 or uint32 [total], prompts and answers one after the other
    starts        int64 [answers + 1], where each begins
    prompt_sizes  int64 [answers], how many of its tokens are the prompt
    temperatures  float32 [answers]
    """

    tokens: np.ndarray
    starts: np.ndarray
    prompt_sizes: np.ndarray
    temperatures: np.ndarray

    def __len__(self) -> int:
        return len(self.prompt_sizes)

    @property
    def answer_tokens(self) -> int:
        """Tokens that are answers, not prompts."""
        return int(self.starts[-1] - self.prompt_sizes.sum())

    def sequence(self, index: int) -> np.ndarray:
        """Token ids of one prompt and its answer."""
        return self.tokens[self.starts[index] : self.starts[index + 1]]

    @classmethod
    def of(cls, answers: list[Answer]) -> "Corpus":
        """A corpus of these answers, in their order."""
        sizes = [len(a.prompt) + len(a.answer) for a in answers]
        tokens = np.array([t for a in answers for t in (*a.prompt, *a.answer)], dtype=np.int64)
        narrow = np.uint16 if tokens.max(initial=0) < 2**16 else np.uint32
        return cls(
            tokens.astype(narrow),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array([len(a.prompt) for a in answers], dtype=np.int64),
            np.array([a.temperature for a in answers], dtype=np.float32),
        )

    def answers(self) -> Iterator[Answer]:
        """The corpus as answers."""
        for i in range(len(self)):
            ids = tuple(self.sequence(i).tolist())
            cut = int(self.prompt_sizes[i])
            yield Answer(ids[:cut], ids[cut:], float(self.temperatures[i]))

    @property
    def digest(self) -> str:
        """A short name of exactly these tokens and boundaries."""
        return hashlib.sha256(self.tokens.tobytes() + self.starts.tobytes() + self.prompt_sizes.tobytes()).hexdigest()[:16]

    def save(self, path: Path) -> None:
        """Write a compressed .npz; nothing half-written is ever found under `path`."""
        partial = path.with_name(path.name + ".partial.npz")
        np.savez_compressed(partial, **self.__dict__)
        os.replace(partial, path)

    @classmethod
    def load(cls, path: Path) -> "Corpus":
        """Read what `save` wrote. Raises ValueError if it is something else."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                return cls(**{name: stored[name] for name in cls.__dataclass_fields__})
        except (OSError, KeyError, ValueError, BadZipFile) as error:
            raise ValueError(f"corpus {str(path)!r} cannot be read: {error}") from error


def own_prompts(target: Target, count: int, seed: int) -> list[str]:
    """Prompts that the target writes when it is given only the opening of a user's turn; unfinished ones are dropped."""
    mark = "\x00"
    opening = target.tokenizer.apply_chat_template([{"role": "user", "content": mark}], tokenize=False).split(mark)[0]
    ids = target.tokenizer.encode(opening, add_special_tokens=False)
    written = sample_batch(target, [ids] * count, [1.0] * count, limit=72, seed=seed)
    finished = [target.decode(w).strip() for w in written if w[-1] in target.end_tokens]
    return [text for text in finished if len(text) >= 12]


def _batch_prompts(target: Target, plan: CorpusPlan, index: int, templates: list[str]) -> list[str]:
    of_its_own = index % plan.template_every != 0
    own = own_prompts(target, plan.batch, plan.seed + 7919 * (index + 1)) if of_its_own else []
    return own or templates[index * plan.batch : (index + 1) * plan.batch]  # also for a target that finishes no prompt


def _answer_batch(target: Target, plan: CorpusPlan, index: int, prompts: list[str]) -> list[Answer]:
    ids = [target.encode_chat(p) for p in prompts]
    temperatures = [TEMPERATURES[(index + i) % len(TEMPERATURES)] for i in range(len(ids))]
    answers = sample_batch(target, ids, temperatures, plan.limit, plan.seed + index)
    return [Answer(tuple(p), tuple(a), t) for p, a, t in zip(ids, answers, temperatures, strict=True)]


def sample_parts(
    target: Target,
    plan: CorpusPlan,
    folder: Path,
    indices: Sequence[int],
    progress: Progress,
    deadline: float = float("inf"),
) -> None:
    """Sample these batches of the plan, each kept in `folder` as it is finished; finished ones are not sampled again.

    Stops before a batch when `time.time()` has passed `deadline`. Batch `i` depends on the plan and on `i` only, so
    several processes may share a plan. Raises ValueError where the folder holds batches of another plan.
    """
    folder.mkdir(parents=True, exist_ok=True)
    templates = draw_prompts(plan.batches * plan.batch, plan.seed)
    made_from = {k: v for k, v in asdict(plan).items() if k != "batches"}
    same_or_stop(folder / "plan.json", made_from | {"target": target.digest, "first prompt": templates[0]})
    for done, index in enumerate(indices):
        if part_path(folder, index).exists():
            continue
        if time.time() > deadline:
            return
        progress(f"corpus: batch {index}", done / len(indices))
        prompts = _batch_prompts(target, plan, index, templates)
        Corpus.of(_answer_batch(target, plan, index, prompts)).save(part_path(folder, index))


def same_or_stop(path: Path, made_from: dict) -> None:
    """Note in `path` what the work beside it is made from; raises ValueError where it was made from something else."""
    if not path.exists():
        path.write_text(json.dumps(made_from))
    found = json.loads(path.read_text())
    if found != made_from:
        raise ValueError(f"work: {str(path.parent)!r} was made from {found}, not from {made_from}; name another folder or empty it")


def part_path(folder: Path, index: int) -> Path:
    """Where batch `index` of a plan is kept."""
    return folder / f"part-{index:04d}.npz"


def join_parts(folder: Path) -> Corpus:
    """All batches found in `folder`, in the plan's order, as one corpus. Raises ValueError if there are none."""
    parts = [Corpus.load(path) for path in sorted(folder.glob("part-????.npz"))]
    if not parts:
        raise ValueError(f"folder {str(folder)!r} holds no sampled batches")
    return Corpus.of([answer for part in parts for answer in part.answers()])


def build_corpus(target: Target, plan: CorpusPlan, folder: Path, progress: Progress, deadline: float = float("inf")) -> Corpus:
    """Sample the whole plan, or what of it can be begun before `deadline`; a stopped run goes on where it was."""
    sample_parts(target, plan, folder, range(plan.batches), progress, deadline)
    return join_parts(folder)
