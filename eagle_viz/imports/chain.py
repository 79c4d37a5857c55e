"""The landscape of measured rates: it ends where the engine drafted no further."""

from __future__ import annotations

import numpy as np

from ..core.landscape import Candidates, RankLandscape
from ..core.tree import NO_TOKEN, Path


class EndingLandscape(RankLandscape):
    """Confidences by level, as ``RankLandscape``, but a confidence of 0 is no candidate: below a level of zeros there is nothing.

    Policies keep what there is and say that there is no more.

    >>> [len(row) for row in EndingLandscape([[0.6], [0.0]]).expand([(), (0,)])]
    [1, 0]
    """

    def _children(self, path: Path) -> Candidates:
        found = super()._children(path)
        some = found.confidences[found.confidences > 0]
        return Candidates(np.full(len(some), NO_TOKEN, dtype=np.int64), some)
