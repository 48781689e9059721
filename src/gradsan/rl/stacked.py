"""Small networks of one shape, computed together: their weights are stacked, and a layer is one batched product.

Gradients stay apart: what a network puts out depends on its own slice of the weights alone, so that the gradient of the
sum of all losses is, slice by slice, the gradient of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gradsan.rl.policies import ActorCritic, Categorical, Distribution, Gaussian, MultiCategorical


def stacked(tensors: Sequence[Tensor]) -> nn.Parameter:
    """One parameter for all. The originals become views of it: they follow every update."""
    together = nn.Parameter(torch.stack([tensor.detach() for tensor in tensors]))
    for tensor, own in zip(tensors, together.detach(), strict=True):
        tensor.data = own
    return together


class StackedLinear(nn.Module):
    """`nn.Linear` for each of S inputs [S, B, in], with its own weights [S, out, in]."""

    def __init__(self, layers: Sequence[nn.Linear]) -> None:
        super().__init__()
        self.weight = stacked([layer.weight for layer in layers])
        self.bias = stacked([layer.bias for layer in layers])

    def forward(self, x: Tensor) -> Tensor:
        return torch.baddbmm(self.bias.unsqueeze(1), x, self.weight.mT)


class TanhBySigmoid(torch.autograd.Function):
    """tanh(x) = 2σ(2x) − 1: over the many numbers of a stack, PyTorch's kernel for σ is several times as fast on CPUs,
    and `tanh` was a third of an update. For one small network there is no difference."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = (x + x).sigmoid_().mul_(2).sub_(1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        return torch.ops.aten.tanh_backward(gradient, y)  # type: ignore[no-any-return]


class StackedTanh(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = TanhBySigmoid.apply(x)  # type: ignore[no-untyped-call]
        return y


def stack(networks: Sequence[nn.Module]) -> nn.Module:
    first = networks[0]
    if isinstance(first, nn.Sequential):
        return nn.Sequential(*(stack(layers) for layers in zip(*networks, strict=True)))
    if isinstance(first, nn.Linear):
        return StackedLinear(networks)  # type: ignore[arg-type]
    if isinstance(first, nn.Tanh):
        return StackedTanh()
    raise TypeError(f"{type(first).__name__} cannot be stacked")


class StackedActorCritic(nn.Module):
    """Policies and value networks of S agents: observations [S, B, …] to S × B distributions in a row, and values."""

    def __init__(self, members: Sequence[ActorCritic]) -> None:
        super().__init__()
        heads = [member.actor.head for member in members]
        self.choices, self.several = heads[0].choices, heads[0].several
        self.actor = stack([member.actor.net for member in members])
        self.critic = stack([member.critic for member in members])
        own = [head.log_std for head in heads if head.log_std is not None]
        self.log_std = stacked(own) if own else None

    def forward(self, obs: Tensor) -> tuple[Distribution, Tensor]:
        return self.distribution(self.actor(obs)), self.critic(obs).squeeze(2)

    @torch.no_grad()
    def policy(self, obs: Tensor) -> Distribution:
        return self.distribution(self.actor(obs))

    @torch.no_grad()
    def value(self, obs: Tensor) -> Tensor:
        value: Tensor = self.critic(obs).squeeze(2)
        return value

    def distribution(self, output: Tensor) -> Distribution:
        flat = output.flatten(0, 1)
        if self.log_std is not None:
            log_std = self.log_std if torch.is_grad_enabled() else self.log_std.detach()
            return Gaussian(flat, log_std.unsqueeze(1).expand_as(output).flatten(0, 1))
        if self.several:
            return MultiCategorical(tuple(map(Categorical, torch.split(flat, list(self.choices), dim=1))))
        return Categorical(flat)


@torch.no_grad()
def clip_each_norm_(parameters: Sequence[Tensor], limit: float) -> Tensor:
    """`clip_grad_norm_` for each network of a stack by itself: the norm is over its own slices of all parameters."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    own = torch.stack([torch.linalg.vector_norm(gradient.flatten(1), dim=1) for gradient in gradients])
    norms: Tensor = torch.linalg.vector_norm(own, dim=0)
    factors = (limit / (norms + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factors.view(-1, *[1] * (gradient.dim() - 1)))
    return norms
