"""Losses of the draft head: distance to the true feature, and cross-entropy to the target's distribution.

Symbols: N rows, H hidden, D draft vocabulary.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

_CHUNK = 256  # rows at a time: their logits stay in the processor's cache


def teacher_probabilities(features: Tensor, lm_head: Tensor) -> Tensor:
    """The target's distribution within the draft vocabulary, [N, D] bfloat16, of features [N, H] and lm_head [D, H]."""
    parts = [F.linear(f, lm_head).float().softmax(-1).to(torch.bfloat16) for f in features.split(_CHUNK)]
    return torch.cat(parts)


class _SoftCrossEntropy(torch.autograd.Function):
    """Computes the gradient while the logits of a chunk are at hand, so that no [N, D] tensor is kept for later."""

    @staticmethod
    def forward(ctx, guesses: Tensor, teacher: Tensor, lm_head: Tensor) -> Tensor:
        total, gradient = torch.zeros(()), torch.empty_like(guesses)
        for start in range(0, len(guesses), _CHUNK):
            rows = slice(start, start + _CHUNK)
            wanted = teacher[rows].float()
            log_p = F.linear(guesses[rows].to(lm_head.dtype), lm_head).float().log_softmax(-1)
            total -= torch.dot(wanted.flatten(), log_p.flatten())
            gradient[rows] = log_p.exp_().sub_(wanted).to(lm_head.dtype) @ lm_head
        ctx.save_for_backward(gradient.div_(len(guesses)))
        return total / len(guesses)

    @staticmethod
    def backward(ctx, upstream: Tensor):
        (gradient,) = ctx.saved_tensors
        return gradient * upstream, None, None


def soft_cross_entropy(guesses: Tensor, teacher: Tensor, lm_head: Tensor) -> Tensor:
    """Mean cross-entropy of the head's distribution against `teacher` [N, D], through the frozen lm_head [D, H]."""
    return _SoftCrossEntropy.apply(guesses, teacher, lm_head)
