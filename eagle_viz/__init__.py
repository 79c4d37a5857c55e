"""Watch a budget of draft nodes being spent: static against dynamic draft trees for speculative decoding."""

from .core.landscape import (
    Candidates,
    Landscape,
    NotRecordedError,
    RankLandscape,
    RecordedLandscape,
    SyntheticLandscape,
)
from .core.policies import POLICIES, Draft, Policy, PoolTooSmallError
from .core.readout import Comparison
from .core.tree import DraftTree, Node, OrphanError, Path
from .core.verification import Verdict
from .notebook import compare

__version__ = "0.1.0"

__all__ = [
    "POLICIES",
    "Candidates",
    "Comparison",
    "Draft",
    "DraftTree",
    "Landscape",
    "Node",
    "NotRecordedError",
    "OrphanError",
    "Path",
    "Policy",
    "PoolTooSmallError",
    "RankLandscape",
    "RecordedLandscape",
    "SyntheticLandscape",
    "Verdict",
    "compare",
]
