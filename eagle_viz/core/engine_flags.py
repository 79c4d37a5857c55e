"""The same tree in the words, the counting and the limits of EAGLE, SGLang, TensorRT-LLM and vLLM.

Each engine's rule stands in one function with its source. A setting that an engine does not take becomes the nearest one that it
takes, and `change` says what was changed.
"""

from __future__ import annotations

from dataclasses import dataclass

from .policies.base import MAX_BUDGET, check_whole

ENGINES = ("EAGLE", "SGLang", "vLLM", "TensorRT-LLM")
"""The engines by name."""


@dataclass(frozen=True)
class EngineFlags:
    """How to ask one engine for a tree: `text` to paste, `counting` the off-by-one that it contains.

    `change` is empty where the engine builds the very tree asked for, else one sentence on what it builds instead.
    """

    engine: str
    text: str
    counting: str
    change: str = ""


def engine_flags(budget: int, top_k: int, max_depth: int) -> tuple[EngineFlags, ...]:
    """Settings of EAGLE-2's tree for each engine.

    `budget` drafted nodes without the root, `max_depth` levels below the root. With `top_k` 1 the tree is a chain. Raises
    `ValueError` where EAGLE-2 would score fewer candidates than `budget`: top_k + (max_depth - 1) * top_k^2.

    >>> engine_flags(budget=59, top_k=10, max_depth=6)[0].text
    'total_token=60, depth=5, top_k=10'
    """
    check_whole("budget", budget, 1, MAX_BUDGET)
    check_whole("top_k", top_k, 1, 256)
    check_whole("max_depth", max_depth, 1, MAX_BUDGET)
    scored = top_k + (max_depth - 1) * top_k**2
    if scored < budget:
        why = f"top_k {top_k} and max_depth {max_depth} score no more candidates"
        raise ValueError(f"budget: {budget} given, allowed is 1 to {scored}: {why}")
    return tuple(rule(budget, top_k, max_depth) for rule in (_eagle, _sglang, _tensorrt, _vllm))


def chain_flags(budget: int) -> tuple[EngineFlags, ...]:
    """Settings of a chain of `budget` drafted tokens for each engine.

    >>> chain_flags(4)[1].text
    '--speculative-num-steps 4 --speculative-eagle-topk 1 --speculative-num-draft-tokens 5'
    """
    return engine_flags(budget, top_k=1, max_depth=budget)


def _eagle(budget: int, top_k: int, max_depth: int) -> EngineFlags:
    """SafeAILab/EAGLE at cb7e084, `eagle/model/cnets.py`: total_token counts the root, depth the passes after the first."""
    text = f"total_token={budget + 1}, depth={max_depth - 1}, top_k={top_k}"
    return EngineFlags("EAGLE", text, "total_token counts the root; depth leaves out the first level")


def _sglang(budget: int, top_k: int, max_depth: int) -> EngineFlags:
    """sgl-project/sglang, `srt/server_args.py`, EAGLE family: at topk 1 num_draft_tokens is set to num_steps + 1 whatever is given.

    A chain of `budget` tokens is therefore asked for by its steps.
    """
    steps = budget if top_k == 1 else max_depth
    text = f"--speculative-num-steps {steps} --speculative-eagle-topk {top_k} --speculative-num-draft-tokens {budget + 1}"
    return EngineFlags("SGLang", text, "num-draft-tokens counts the root; num-steps is our max_depth")


def _tensorrt(budget: int, top_k: int, max_depth: int) -> EngineFlags:
    """NVIDIA/TensorRT-LLM, `llmapi/llm_args.py`, Eagle3DecodingConfig with use_dynamic_tree (EAGLE-3 heads alone):
    max_draft_len <= max_total_draft_tokens <= dynamic_tree_max_topK * max_draft_len.

    A tree of `budget` nodes has at most `budget` levels, so cutting the levels to the budget changes no tree.
    """
    levels = min(max_depth, budget)
    nodes = min(budget, top_k * levels)
    text = f"max_total_draft_tokens={nodes}, max_draft_len={levels}, dynamic_tree_max_topK={top_k}, use_dynamic_tree=True"
    limit = f"TensorRT-LLM takes at most top_k times max_draft_len, {top_k} x {levels}: {nodes} nodes instead of {budget}."
    counting = "counts as we do: root left out, levels below the root; its dynamic tree needs an EAGLE-3 head"
    return EngineFlags("TensorRT-LLM", text, counting, limit if nodes < budget else "")


def _vllm(budget: int, top_k: int, max_depth: int) -> EngineFlags:
    """vllm-project/vllm 0.32, `config/speculative.py`: num_speculative_tokens drafted one after the other; no tree is verified."""
    length = budget if top_k == 1 else min(budget, max_depth)
    text = f'--speculative-config \'{{"method": "eagle3", "model": "HEAD", "num_speculative_tokens": {length}}}\''
    instead = f"vLLM verifies chains only: a chain of {length} tokens instead of the tree."
    counting = 'counts as we do: root left out; "method" is "eagle" for an EAGLE-1/2 head, "HEAD" its folder or name'
    return EngineFlags("vLLM", text, counting, "" if top_k == 1 else instead)
