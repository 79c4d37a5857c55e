"""Losses of the draft head: distance to the true feature, cross-entropy to the target's distribution, and lost acceptance.

Symbols: N rows, H hidden, D draft vocabulary, p the target's distribution, q the head's.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

_CHUNK = 256  # rows at a time: their logits stay in the processor's cache


def teacher_probabilities(features: Tensor, lm_head: Tensor) -> Tensor:
    """The target's distribution within the draft vocabulary, [N, D] bfloat16, of features [N, H] and lm_head [D, H]."""
    parts = [F.linear(f, lm_head).float().softmax(-1).to(torch.bfloat16) for f in features.split(_CHUNK)]
    return torch.cat(parts)


class _DraftLoss(torch.autograd.Function):
    """Computes the gradients while the logits of a chunk are at hand, so that no [N, D] tensor is kept for the backward pass."""

    @staticmethod
    def forward(ctx, guesses: Tensor, teacher: Tensor, lm_head: Tensor, sharpness: float) -> Tensor:
        total, gradient = torch.zeros(()), torch.empty_like(guesses)
        learns = ctx.needs_input_grad[2]
        by_logits = torch.empty(len(guesses) if learns else 0, len(lm_head), dtype=lm_head.dtype)
        for start in range(0, len(guesses), _CHUNK):
            rows = slice(start, start + _CHUNK)
            loss, by_logit = _chunk(F.linear(guesses[rows].to(lm_head.dtype), lm_head).float(), teacher[rows].float(), sharpness)
            by_logit = by_logit.to(lm_head.dtype)
            total, gradient[rows] = total + loss, by_logit @ lm_head
            if learns:
                by_logits[rows] = by_logit
        # One product for the lm_head: a sum of [D, H] products, chunk by chunk, takes longer than all of the rest.
        for_head = (by_logits.T @ guesses.to(lm_head.dtype)).div_(len(guesses)) if learns else None
        ctx.save_for_backward(gradient.div_(len(guesses)), for_head)
        return total / len(guesses)

    @staticmethod
    def backward(ctx, upstream: Tensor):
        gradient, for_head = ctx.saved_tensors
        return gradient * upstream, None, None if for_head is None else for_head * upstream, None


def _chunk(logits: Tensor, wanted: Tensor, sharpness: float) -> tuple[Tensor, Tensor]:
    """Summed loss and its gradient by the logits [n, D]; a row's share of cross-entropy is exp(-sharpness * acceptance)."""
    log_q = logits.log_softmax(-1)
    entropy = -torch.linalg.vecdot(wanted, log_q)
    if not sharpness:
        return entropy.sum(), log_q.exp_().sub_(wanted)
    q = log_q.exp()
    accepted = torch.minimum(q, wanted).sum(-1)
    share = torch.exp(-sharpness * accepted)
    below = (q < wanted).float()
    rise = q * (below - (q * below).sum(-1, keepdim=True))
    loss = share * entropy + (1 - share) * (1 - accepted)
    return loss.sum(), share[:, None] * (q - wanted) - (1 - share)[:, None] * rise


def draft_loss(guesses: Tensor, teacher: Tensor, lm_head: Tensor, sharpness: float = 0.0) -> Tensor:
    """Mean loss of the head's distribution q against `teacher` p, [N, D], through lm_head [D, H] from what it reads, [N, H].

    With `sharpness` 0: soft cross-entropy. Above it each row mixes cross-entropy with lost acceptance 1 - sum(min(p, q)), the
    share of the former falling with the acceptance that the row has already: exp(-sharpness * sum(min(p, q))), held constant
    in the gradient (arXiv 2602.23881). At p = (1/2, 1/2), q = (3/4, 1/4) the acceptance is 3/4.
    """
    return _DraftLoss.apply(guesses, teacher, lm_head, sharpness)
