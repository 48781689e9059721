"""Temporal-difference targets and losses for Q-learning and for state values.

Targets are built from constants and are constants; losses differentiate with respect to the prediction alone.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from gradsan.rl.losses._check import constant, integer, shapes


def td_target(reward: Tensor, terminated: Tensor, next_value: Tensor, discount: float | Tensor) -> Tensor:
    """r + γ·V(s'), without the second term where the episode terminated (Sutton 1988).

    A truncated episode is not a terminated one: it bootstraps. For n-step targets, `reward` is the discounted
    sum of n rewards and `discount` is γⁿ, per sample where episodes ended earlier.

    Gradient: none; every argument must be constant.
    """
    shapes("td_target", reward=(reward, "B"), terminated=(terminated, "B"), next_value=(next_value, "B"))
    constant("td_target", reward=reward, next_value=next_value)
    if isinstance(discount, Tensor):
        shapes("td_target", reward=(reward, "B"), discount=(discount, "B"))
        constant("td_target", discount=discount)
    # `where`, not a product with (1 - terminated): 0 × inf behind the last state would be NaN.
    return torch.where(terminated.bool(), reward, reward + discount * next_value)


def q_learning_target(reward: Tensor, terminated: Tensor, next_q: Tensor, discount: float | Tensor) -> Tensor:
    """r + γ·max Q⁻(s', ·) with a target network (Watkins 1989; Mnih et al. 2015).

    Gradient: none; `next_q` [B, A] comes from the target network and must be constant.
    """
    shapes("q_learning_target", reward=(reward, "B"), next_q=(next_q, "B A"))
    constant("q_learning_target", next_q=next_q)
    return td_target(reward, terminated, next_q.amax(dim=1), discount)


def double_q_target(
    reward: Tensor,
    terminated: Tensor,
    next_q_online: Tensor,
    next_q_target: Tensor,
    discount: float | Tensor,
) -> Tensor:
    """r + γ·Q⁻(s', argmax Q(s', ·)): the online network chooses, the target values (van Hasselt 2016).

    Gradient: none. `next_q_online` may carry a graph: it only selects, and nothing flows through an argmax.
    """
    shapes(
        "double_q_target",
        reward=(reward, "B"),
        next_q_online=(next_q_online, "B A"),
        next_q_target=(next_q_target, "B A"),
    )
    constant("double_q_target", next_q_target=next_q_target)
    choice = next_q_online.argmax(dim=1, keepdim=True)
    return td_target(reward, terminated, next_q_target.gather(1, choice).squeeze(1), discount)


def squared_td_loss(q: Tensor, action: Tensor, target: Tensor) -> Tensor:
    """½ (Q(s, a) − y)², mean over the batch (Mnih et al. 2013).

    Gradient: to `q` [B, A], at the actions taken; `target` [B] must be constant.
    """
    taken = _taken("squared_td_loss", q, action, target)
    return 0.5 * functional.mse_loss(taken, target)


def huber_td_loss(q: Tensor, action: Tensor, target: Tensor, threshold: float = 1.0) -> Tensor:
    """As `squared_td_loss` up to `threshold`, linear beyond: its gradient is clipped, not the error itself.

    Gradient: to `q` [B, A], at the actions taken; `target` [B] must be constant (Mnih et al. 2015).
    """
    taken = _taken("huber_td_loss", q, action, target)
    return functional.huber_loss(taken, target, delta=threshold)


def value_loss(value: Tensor, returns: Tensor) -> Tensor:
    """½ (V(s) − R)², mean over the batch: the critic of REINFORCE, A2C and PPO (Mnih et al. 2016).

    Gradient: to `value` [B]; `returns` [B] must be constant.
    """
    shapes("value_loss", value=(value, "B"), returns=(returns, "B"))
    constant("value_loss", returns=returns)
    return 0.5 * functional.mse_loss(value, returns)


def _taken(function: str, q: Tensor, action: Tensor, target: Tensor) -> Tensor:
    shapes(function, q=(q, "B A"), action=(action, "B"), target=(target, "B"))
    constant(function, target=target)
    return q.gather(1, integer(function, action).unsqueeze(1)).squeeze(1)
