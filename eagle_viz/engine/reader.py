"""A text that a target reads and a drafter continues, tree by tree."""

from collections.abc import Sequence

import torch
from torch import Tensor

from eagle_viz.core.tree import DraftTree
from eagle_viz.engine.drafted import DraftedLandscape, Drafter
from eagle_viz.engine.target import Target, TargetPass

TREE_ROWS = 1024
"""Cache rows kept free for trees behind the text."""


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
