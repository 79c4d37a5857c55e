"""The whole way from a target to a head in one call; each stage is kept and not done twice."""

import itertools
from collections.abc import Callable
from pathlib import Path

import torch

from eagle_viz.engine.checkpoint import HeadCheckpoint, read_head, write_head
from eagle_viz.engine.drafted import HeadDrafter
from eagle_viz.engine.head import Head
from eagle_viz.engine.head_rules import check_head
from eagle_viz.engine.target import Target
from eagle_viz.training.calibrate import calibrate, calibration_error, unseen_answers
from eagle_viz.training.corpus import Corpus, CorpusPlan, build_corpus
from eagle_viz.training.features import compute_features
from eagle_viz.training.greedy import NOTHING, fit_greedy, observe, surprise, with_greedy
from eagle_viz.training.kinds import KINDS
from eagle_viz.training.train import Trainer, TrainPlan, check_corpus, train
from eagle_viz.training.unseen import EXACT_PROMPTS, PROMPTS

Progress = Callable[[str, float], None]

GREEDY_PROMPTS = (*PROMPTS, *EXACT_PROMPTS)
"""What is answered to fit the greedy reading: prompts of kinds that no template has, code and arithmetic among them."""


def train_head(
    target: str | Path,
    out: str | Path,
    work: str | Path,
    corpus: str | Path | None = None,
    start: str | Path | None = None,
    plan: TrainPlan | None = None,
    corpus_plan: CorpusPlan | None = None,
    progress: Progress = lambda stage, fraction: None,
) -> HeadCheckpoint:
    """Train a head for the target in folder `target` and write it to the folder `out`; stopped runs go on where they were.

    `work` keeps the sampled corpus, the features (1.2 KB a token for EAGLE-1/2, 4.6 KB for EAGLE-3) and the training state.
    `corpus` names a corpus file
    to be used instead of sampling a new one, `start` the folder of a head to go on from. `progress(text, fraction)` is called
    at every stage. Raises ValueError for a target or corpus that cannot be used, and for a `work` folder that holds another
    training.
    """
    loaded, work, plan = Target.load(target, torch.bfloat16), Path(work).expanduser(), plan or TrainPlan()
    first = read_head(start) if start else None
    if first:
        check_head(first, loaded.hidden, loaded.vocabulary)
    answers = Corpus.load(Path(corpus)) if corpus else build_corpus(loaded, corpus_plan or CorpusPlan(), work / "corpus", progress)
    check_corpus(answers, plan, loaded)
    taps = KINDS[plan.kind].taps(loaded)
    features = compute_features(loaded, answers, work / "features.bin", progress, taps=taps).open()
    trainer = Trainer(loaded, answers, features, plan, work / "state", first)
    trainer.resume()
    train(trainer, progress, publish=Path(out))
    progress("calibrating", 1.0)
    unseen = unseen_answers(loaded, taps)
    head = calibrate(trainer, unseen)
    before, after = (calibration_error(trainer, unseen, one)["all"] for one in (trainer.checkpoint(), head))
    progress(f"calibrated: ECE {before:.4f} before and {after:.4f} after, on answers that the fit has not seen", 1.0)
    head = fitted_for_greedy(loaded, head, progress)
    write_head(out, head)
    return head


def fitted_for_greedy(target: Target, head: HeadCheckpoint, progress: Progress) -> HeadCheckpoint:
    """The head with what its confidences say of greedy decoding, fitted on greedy answers to `GREEDY_PROMPTS`."""
    done = itertools.count(1)

    def report(prompt: str) -> None:
        progress("answering greedily", next(done) / len(GREEDY_PROMPTS))

    seen = observe(target, HeadDrafter(Head(head, target)), GREEDY_PROMPTS, report=report)
    calibration = fit_greedy(seen)
    before, after = surprise(seen, NOTHING), surprise(seen, calibration)
    progress(f"greedy reading: {len(seen.depth)} reached nodes, {before:.3f} nats a node before and {after:.3f} after", 1.0)
    return with_greedy(head, calibration)
