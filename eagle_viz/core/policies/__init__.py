"""Policies: how a budget of nodes is spent on a landscape, by name."""

from .base import Draft, Parameter, Policy, PoolTooSmallError, StoppedError
from .best_first import BestFirst
from .confident_chain import ConfidentChain
from .ddd import Ddd
from .eagle2 import Eagle2
from .fixed import EAGLE1_PATHS, RANK_AVERAGES, BestStatic, Chain, Eagle1, NoAverageError
from .fixed_order import FixedOrder, read_choices
from .max_sweep import MaxSweep
from .opt_tree import OptTree
from .priced import Priced
from .sequoia import Sequoia

POLICIES: dict[str, type[Policy]] = {
    policy.name: policy
    for policy in (Chain, Eagle1, BestStatic, Eagle2, BestFirst, MaxSweep, ConfidentChain, Ddd, OptTree, Sequoia, Priced)
}
"""Every shipped policy by name: call the entry with parameters, then the result with a landscape and a budget."""


def every_parameter() -> dict[str, Parameter]:
    """The parameters of all policies by name, each once: what the command line and the page can offer."""
    return {parameter.name: parameter for policy in POLICIES.values() for parameter in policy.parameters}


__all__ = [
    "EAGLE1_PATHS",
    "POLICIES",
    "RANK_AVERAGES",
    "BestFirst",
    "BestStatic",
    "Chain",
    "ConfidentChain",
    "Ddd",
    "Draft",
    "Eagle1",
    "Eagle2",
    "FixedOrder",
    "MaxSweep",
    "NoAverageError",
    "OptTree",
    "Parameter",
    "Policy",
    "PoolTooSmallError",
    "Priced",
    "Sequoia",
    "StoppedError",
    "every_parameter",
    "read_choices",
]
