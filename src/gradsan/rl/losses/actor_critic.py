"""The losses of SAC and TD3: pathwise gradients, that is, through the critic into the action.

The actor's loss flows through the critic to the actor; the critic's own parameters must not be trained by it
(`gradsan.rl.without_gradient`), and neither must the temperature.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from gradsan.rl.losses._check import constant, scalar, shapes
from gradsan.rl.losses.policy import _HALF_LOG_2PI
from gradsan.rl.losses.value import td_target


def tanh_gaussian_sample(mean: Tensor, log_std: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Action tanh(mean + std·noise) [B, D] and its log-density [B] (Haarnoja et al. 2018, appendix C).

    Gradient: to `mean` and `log_std` [B, D], through both results; `noise` must be constant.
    """
    shapes("tanh_gaussian_sample", mean=(mean, "B D"), log_std=(log_std, "B D"), noise=(noise, "B D"))
    constant("tanh_gaussian_sample", noise=noise)
    raw = mean + log_std.exp() * noise
    # log(1 - tanh²(x)) = 2 (log 2 - x - softplus(-2x)) stays finite where tanh has saturated to ±1.
    volume = 2 * (math.log(2) - raw - functional.softplus(-2 * raw))
    log_prob = (-0.5 * noise * noise - log_std - _HALF_LOG_2PI - volume).sum(dim=1)
    return torch.tanh(raw), log_prob


def sac_target(
    reward: Tensor,
    terminated: Tensor,
    next_q: tuple[Tensor, Tensor],
    next_log_prob: Tensor,
    temperature: Tensor,
    discount: float | Tensor,
) -> Tensor:
    """r + γ (min(Q₁⁻, Q₂⁻)(s', a') − α log π(a' | s')), with a' drawn from the current policy (Haarnoja et al. 2018).

    Gradient: none; every argument must be constant. `temperature` is a scalar tensor.
    """
    shapes(
        "sac_target",
        reward=(reward, "B"),
        next_q1=(next_q[0], "B"),
        next_q2=(next_q[1], "B"),
        next_log_prob=(next_log_prob, "B"),
    )
    scalar("sac_target", temperature=temperature)
    constant("sac_target", next_q1=next_q[0], next_q2=next_q[1])
    constant("sac_target", next_log_prob=next_log_prob, temperature=temperature)
    return td_target(reward, terminated, torch.minimum(*next_q) - temperature * next_log_prob, discount)


def twin_critic_loss(q: tuple[Tensor, Tensor], target: Tensor) -> Tensor:
    """½ Σᵢ (Qᵢ(s, a) − y)², mean over the batch, one target for both critics (Fujimoto et al. 2018).

    Gradient: to both of `q` [B]; `target` [B] must be constant.
    """
    shapes("twin_critic_loss", q1=(q[0], "B"), q2=(q[1], "B"), target=(target, "B"))
    constant("twin_critic_loss", target=target)
    return 0.5 * (functional.mse_loss(q[0], target) + functional.mse_loss(q[1], target))


def sac_actor_loss(log_prob: Tensor, q: tuple[Tensor, Tensor], temperature: Tensor) -> Tensor:
    """α log π(a | s) − min(Q₁, Q₂)(s, a), mean over the batch, with a reparameterised action (Haarnoja et al. 2018).

    Gradient: to `log_prob` [B] and, through the smaller of `q` [B], to the action; `temperature` must
    be constant: a live one is driven by the actor's loss, which has no target entropy.
    """
    shapes("sac_actor_loss", log_prob=(log_prob, "B"), q1=(q[0], "B"), q2=(q[1], "B"))
    scalar("sac_actor_loss", temperature=temperature)
    constant("sac_actor_loss", temperature=temperature)
    return (temperature * log_prob - torch.minimum(*q)).mean()


def sac_temperature_loss(log_temperature: Tensor, log_prob: Tensor, target_entropy: float) -> Tensor:
    """−log α · (log π(a | s) + H̄), mean over the batch: raises α while the entropy is below its target (Haarnoja
    et al. 2018).

    Gradient: to `log_temperature`, a scalar; `log_prob` [B] must be constant.
    """
    shapes("sac_temperature_loss", log_prob=(log_prob, "B"))
    scalar("sac_temperature_loss", log_temperature=log_temperature)
    constant("sac_temperature_loss", log_prob=log_prob)
    return -(log_temperature * (log_prob + target_entropy)).mean()


def smoothed_action(action: Tensor, noise: Tensor, noise_clip: float) -> Tensor:
    """clip(π⁻(s') + clip(ε, ±c), ±1): target policy smoothing (Fujimoto et al. 2018).

    Gradient: none; `action` comes from the target actor and, like `noise` [B, D], must be constant.
    """
    shapes("smoothed_action", action=(action, "B D"), noise=(noise, "B D"))
    constant("smoothed_action", action=action, noise=noise)
    return (action + noise.clamp(-noise_clip, noise_clip)).clamp(-1, 1)


def td3_target(
    reward: Tensor, terminated: Tensor, next_q: tuple[Tensor, Tensor], discount: float | Tensor
) -> Tensor:
    """r + γ min(Q₁⁻, Q₂⁻)(s', ã), at the smoothed action (Fujimoto et al. 2018).

    Gradient: none; every argument must be constant.
    """
    shapes("td3_target", reward=(reward, "B"), next_q1=(next_q[0], "B"), next_q2=(next_q[1], "B"))
    constant("td3_target", next_q1=next_q[0], next_q2=next_q[1])
    return td_target(reward, terminated, torch.minimum(*next_q), discount)


def td3_actor_loss(q: Tensor) -> Tensor:
    """−Q₁(s, π(s)), mean over the batch: the deterministic policy gradient (Silver et al. 2014).

    Gradient: to `q` [B], and through it to the action.
    """
    shapes("td3_actor_loss", q=(q, "B"))
    return -q.mean()
