"""Fitting what a head's confidences say of greedy decoding (`core.greedy`), by maximum likelihood on greedy answers.

Every node that a pass reached and expanded is one observation: its candidates' confidences, and which of them was the target's
first choice, or none.
Symbols: N observations, K candidates.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from eagle_viz.core.greedy import CANDIDATES, GreedyCalibration
from eagle_viz.core.policies import Eagle2
from eagle_viz.engine.checkpoint import HeadCheckpoint
from eagle_viz.engine.drafted import Drafter
from eagle_viz.engine.generation import Cycle, Generation, Settings
from eagle_viz.engine.target import Target

NOTHING = GreedyCalibration(power=(1.0,), rest_power=1.0, rest_weight=0.0)
"""Confidences as they are."""
BUDGET = 59
DEPTHS = 6


@dataclass(frozen=True)
class FirstChoices:
    """Reached nodes: `confidences` [N, K] of their candidates, `depth` [N] of these, and `chosen` [N].

    `chosen` is the rank of the target's first choice, K where that is none of the candidates.
    """

    confidences: np.ndarray
    depth: np.ndarray
    chosen: np.ndarray


def observed(cycle: Cycle) -> list[tuple[np.ndarray, int, int]]:
    """What one pass says: (confidences, depth, chosen) at the root and at every accepted node that was expanded."""
    leader = cycle.leader
    tree, verdict = cycle.drafts[leader].tree, cycle.verdicts[leader]
    tokens = [*(int(tree.tokens[node]) for node in verdict.accepted), verdict.bonus]
    found = []
    for node, token in zip((0, *verdict.accepted), tokens, strict=True):
        row = cycle.landscape.candidates.get(tree.paths[node])
        if row is None:
            break
        ranks, best = np.flatnonzero(row.tokens[:CANDIDATES] == token), row.confidences[:CANDIDATES]
        padded = np.pad(best, (0, CANDIDATES - len(best)))
        found.append((padded, len(tree.paths[node]) + 1, int(ranks[0]) if len(ranks) else CANDIDATES))
    return found


def observe(
    target: Target,
    drafter: Drafter,
    prompts: Iterable[str],
    max_new_tokens: int = 128,
    report: Callable[[str], None] = lambda prompt: None,
) -> FirstChoices:
    """Answer the prompts greedily, each pass with EAGLE-2's 59 nodes in six levels, and note every node that was reached."""
    contest = {"eagle2": (Eagle2(max_depth=DEPTHS), BUDGET)}
    settings, found = Settings(max_new_tokens, probabilities=False), []
    for prompt in prompts:
        for cycle in Generation(target, drafter, target.encode_chat(prompt), contest, settings):
            found += observed(cycle)
        report(prompt)
    confidences, depth, chosen = zip(*found, strict=True)
    return FirstChoices(np.stack(confidences), np.array(depth), np.array(chosen))


class _Fit(torch.nn.Module):
    """What is fitted: log a by depth, log b, and c."""

    def __init__(self, depths: int):
        super().__init__()
        self.log_power = torch.nn.Parameter(torch.zeros(depths, dtype=torch.float64))
        self.log_rest_power = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.rest_weight = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))

    def log_chances(self, log_p: Tensor, log_rest: Tensor, depth: Tensor) -> Tensor:
        """[N, K + 1]: log chance of each candidate, and of none, to be the first choice."""
        inside = log_p * self.log_power.exp()[depth, None]
        none = self.rest_weight + log_rest * self.log_rest_power.exp()
        return torch.cat([inside, none[:, None]], dim=1).log_softmax(1)

    def calibration(self) -> GreedyCalibration:
        """The fitted numbers, rounded to four decimals."""
        power = tuple(round(a, 4) for a in self.log_power.detach().exp().tolist())
        return GreedyCalibration(
            power, round(float(self.log_rest_power.detach().exp()), 4), round(float(self.rest_weight.detach()), 4)
        )


def fit_greedy(seen: FirstChoices, by_depth: bool = False, pull: float = 20.0, iterations: int = 100) -> GreedyCalibration:
    """The calibration under which the target's first choices were most likely.

    `by_depth`: a power a for each of six depths, pulled to their mean as by `pull` observations, because few passes get deep.
    A calibration that changes nothing counts as much as one observation more, so that confidences that say nothing give no extreme.
    Raises ValueError without an observation.
    """
    if not len(seen.depth):
        raise ValueError("observations: none given, at least one reached node is needed")
    p = torch.from_numpy(np.ascontiguousarray(seen.confidences, dtype=np.float64))
    log_p, log_rest = p.clamp_min(1e-12).log(), (1 - p.sum(1)).clamp_min(1e-6).log()
    depth = torch.from_numpy(np.minimum(seen.depth, DEPTHS) - 1 if by_depth else np.zeros_like(seen.depth))
    chosen, fit = torch.from_numpy(seen.chosen), _Fit(DEPTHS if by_depth else 1)
    optimizer = torch.optim.LBFGS(fit.parameters(), max_iter=iterations, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        nats = -fit.log_chances(log_p, log_rest, depth).gather(1, chosen[:, None]).sum()
        apart = (fit.log_power - fit.log_power.mean()).square().sum()
        far = fit.log_power.mean().square() + fit.log_rest_power.square() + fit.rest_weight.square()
        total = (nats + pull * apart + far) / len(depth)
        total.backward()
        return total

    optimizer.step(loss)
    return fit.calibration()


def surprise(seen: FirstChoices, calibration: GreedyCalibration) -> float:
    """Mean nats a reached node by which the calibration is surprised at the target's first choice; lower is better."""
    total = 0.0
    for confidences, depth, chosen in zip(seen.confidences, seen.depth.tolist(), seen.chosen.tolist(), strict=True):
        chances = calibration(confidences, depth)
        chance = chances[chosen] if chosen < len(chances) else 1 - chances.sum()
        total -= float(np.log(max(chance, 1e-12)))
    return total / len(seen.depth)


def split(seen: FirstChoices, chosen: Sequence[bool] | np.ndarray) -> FirstChoices:
    """The observations where `chosen` [N] is true."""
    return FirstChoices(seen.confidences[chosen], seen.depth[chosen], seen.chosen[chosen])


def with_greedy(checkpoint: HeadCheckpoint, calibration: GreedyCalibration) -> HeadCheckpoint:
    """The head with this calibration in its config.json; its weights stay."""
    own = dict(checkpoint.config.get("eagle_viz", {})) | {"greedy": calibration.to_json()}
    return replace(checkpoint, config=dict(checkpoint.config) | {"eagle_viz": own})
