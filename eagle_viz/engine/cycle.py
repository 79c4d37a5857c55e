"""One cycle of drafting and verifying, and what its one target pass tells of every tree in it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from eagle_viz.core.landscape import Candidates, RecordedLandscape
from eagle_viz.core.policies import Draft
from eagle_viz.core.tree import DraftTree, Node, Path, path_name
from eagle_viz.core.verification import Verdict
from eagle_viz.engine.exact import below_float32


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


def union(drafts) -> DraftTree:
    """The smallest tree that holds the trees of all drafts over one landscape; one pass over it verifies them all."""
    trees = [draft.tree for draft in drafts]
    if len(trees) == 1:
        return trees[0]
    nodes: dict[Path, Node] = {node.path: node for tree in trees for node in tree.nodes()}
    return DraftTree.from_nodes(nodes.values(), int(trees[0].tokens[0]))


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
