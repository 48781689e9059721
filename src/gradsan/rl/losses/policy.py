"""Log-probabilities, entropies and the policy-gradient losses of REINFORCE, A2C and PPO.

The weight of a policy gradient is a number, not a function of the policy: advantages, returns, baselines and
old log-probabilities are constants here, and a graph on one of them is refused.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from gradsan.rl.losses._check import constant, integer, shapes

# Cross entropy passes over targets of one value, -100 unless told otherwise; no action may be that.
NO_INDEX = torch.iinfo(torch.int64).min
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def categorical_log_prob(logits: Tensor, action: Tensor) -> Tensor:
    """log π(a | s) [B] of discrete actions [B] (Williams 1992). Gradient: to `logits` [B, A]."""
    shapes("categorical_log_prob", logits=(logits, "B A"), action=(action, "B"))
    index = integer("categorical_log_prob", action)
    return -functional.cross_entropy(logits, index, reduction="none", ignore_index=NO_INDEX)


def categorical_entropy(logits: Tensor) -> Tensor:
    """Entropy [B] of the discrete policy (Williams & Peng 1991). Gradient: to `logits` [B, A]."""
    shapes("categorical_entropy", logits=(logits, "B A"))
    log_prob = functional.log_softmax(logits, dim=1)
    # An impossible action, masked by a logit of -inf, adds nothing; 0 × -inf would be NaN.
    finite = log_prob.clamp(min=torch.finfo(log_prob.dtype).min)
    return -(log_prob.exp() * finite).sum(dim=1)


def gaussian_log_prob(mean: Tensor, log_std: Tensor, action: Tensor) -> Tensor:
    """log π(a | s) [B] of a diagonal Gaussian (Williams 1992).

    Gradient: to `mean` and `log_std` [B, D]; `action` must be constant: a reparameterised sample scored by
    its own density cancels most of its gradient.
    """
    shapes("gaussian_log_prob", mean=(mean, "B D"), log_std=(log_std, "B D"), action=(action, "B D"))
    constant("gaussian_log_prob", action=action)
    scaled = (action - mean) * torch.exp(-log_std)
    return (-0.5 * scaled * scaled - log_std - _HALF_LOG_2PI).sum(dim=1)


def gaussian_entropy(log_std: Tensor) -> Tensor:
    """Entropy [B] of a diagonal Gaussian (Williams & Peng 1991). Gradient: to `log_std` [B, D]."""
    shapes("gaussian_entropy", log_std=(log_std, "B D"))
    return (log_std + (0.5 + _HALF_LOG_2PI)).sum(dim=1)


def reinforce_loss(log_prob: Tensor, returns: Tensor, baseline: Tensor) -> Tensor:
    """−log π(a | s) · (R − b(s)), mean over the batch (Williams 1992).

    Gradient: to `log_prob` [B], of discrete or continuous actions; `returns` and `baseline` [B] must be
    constant: the baseline is fitted by `value_loss`, never by this.
    """
    shapes("reinforce_loss", log_prob=(log_prob, "B"), returns=(returns, "B"), baseline=(baseline, "B"))
    constant("reinforce_loss", returns=returns, baseline=baseline)
    return -(log_prob * (returns - baseline)).mean()


def a2c_loss(log_prob: Tensor, advantage: Tensor) -> Tensor:
    """−log π(a | s) · A, mean over the batch: the policy term of A2C (Mnih et al. 2016).

    Gradient: to `log_prob` [B]; `advantage` [B] must be constant.
    """
    shapes("a2c_loss", log_prob=(log_prob, "B"), advantage=(advantage, "B"))
    constant("a2c_loss", advantage=advantage)
    return -(log_prob * advantage).mean()


def ppo_clip_loss(log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """−min(ρA, clip(ρ, 1 ± ε)A), mean over the batch, with ρ = π/π_old (Schulman et al. 2017).

    Gradient: to `log_prob` [B]; `old_log_prob` and `advantage` [B] must be constant: a live "old" log-prob
    makes the ratio constant and the gradient zero.
    """
    shapes(
        "ppo_clip_loss",
        log_prob=(log_prob, "B"),
        old_log_prob=(old_log_prob, "B"),
        advantage=(advantage, "B"),
    )
    constant("ppo_clip_loss", old_log_prob=old_log_prob, advantage=advantage)
    ratio = torch.exp(log_prob - old_log_prob)
    return -torch.min(ratio * advantage, torch.clamp(ratio, 1 - clip, 1 + clip) * advantage).mean()


def ppo_value_loss(value: Tensor, old_value: Tensor, returns: Tensor, clip: float) -> Tensor:
    """½ max((V − R)², (V_clipped − R)²), V_clipped within `clip` of the value at collection time (studied by
    Engstrom et al. 2020).

    Gradient: to `value` [B]; `old_value` and `returns` [B] must be constant.
    """
    shapes("ppo_value_loss", value=(value, "B"), old_value=(old_value, "B"), returns=(returns, "B"))
    constant("ppo_value_loss", old_value=old_value, returns=returns)
    clipped = old_value + (value - old_value).clamp(-clip, clip)
    return 0.5 * torch.maximum((value - returns).square(), (clipped - returns).square()).mean()
