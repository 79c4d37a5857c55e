"""One tree, three engines: the same settings in the words and the counting of EAGLE, SGLang and TensorRT-LLM."""

from __future__ import annotations

from dataclasses import dataclass

from .policies.base import MAX_BUDGET, MAX_DEPTH, check_whole


@dataclass(frozen=True)
class EngineFlags:
    """How to ask one engine for a tree: ``text`` to paste, ``counting`` the off-by-one that it contains."""

    engine: str
    text: str
    counting: str


def engine_flags(budget: int, top_k: int, max_depth: int) -> tuple[EngineFlags, ...]:
    """Settings of EAGLE-2's tree for each engine (counting of the public repositories, reference section 1).

    ``budget`` drafted nodes without the root, ``max_depth`` levels below the root. Raises ``ValueError`` where the
    engines would score fewer candidates than ``budget``: top_k + (max_depth - 1) * top_k^2.

    >>> engine_flags(budget=59, top_k=10, max_depth=6)[0].text
    'total_token=60, depth=5, top_k=10'
    """
    check_whole("budget", budget, 1, MAX_BUDGET)
    check_whole("top_k", top_k, 1, 256)
    check_whole("max_depth", max_depth, 1, MAX_DEPTH)
    scored = top_k + (max_depth - 1) * top_k**2
    if scored < budget:
        why = f"top_k {top_k} and max_depth {max_depth} score no more candidates"
        raise ValueError(f"budget: {budget} given, allowed is 1 to {scored}: {why}")
    return (_eagle(budget, top_k, max_depth), _sglang(budget, top_k, max_depth), _tensorrt(budget, top_k, max_depth))


def _eagle(budget: int, top_k: int, max_depth: int) -> EngineFlags:
    text = f"total_token={budget + 1}, depth={max_depth - 1}, top_k={top_k}"
    return EngineFlags("EAGLE", text, "total_token counts the root; depth leaves out the first level")


def _sglang(budget: int, top_k: int, max_depth: int) -> EngineFlags:
    text = f"--speculative-num-steps {max_depth} --speculative-eagle-topk {top_k} --speculative-num-draft-tokens {budget + 1}"
    return EngineFlags("SGLang", text, "num-draft-tokens counts the root; num-steps is our max_depth")


def _tensorrt(budget: int, top_k: int, max_depth: int) -> EngineFlags:
    text = f"max_total_draft_tokens={budget}, max_draft_len={max_depth}, dynamic_tree_max_topK={top_k}, use_dynamic_tree=True"
    return EngineFlags("TensorRT-LLM", text, "counts as we do: root left out, levels below the root")
