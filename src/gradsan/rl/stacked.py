"""Small networks of one shape, computed together: their weights are stacked, and a layer is one batched product.

Gradients stay apart: what a network puts out depends on its own slice of the weights alone, so that the gradient of the
sum of all losses is, slice by slice, the gradient of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from gradsan.rl.policies import ActorCritic, Categorical, Distribution, Gaussian, MultiCategorical


def stacked(tensors: Sequence[Tensor]) -> nn.Parameter:
    """One parameter for all. The originals become views of it: they follow every update."""
    together = nn.Parameter(torch.stack([tensor.detach() for tensor in tensors]))
    for tensor, own in zip(tensors, together.detach(), strict=True):
        tensor.data = own
    return together


Layers = list[tuple[Tensor, Tensor]]
MINUS_ONE = torch.tensor(-1.0)


def layers_of(rows: Tensor, shapes: Sequence[torch.Size]) -> Layers:
    """Weights [S, out, in] and biases [S, out]: views of rows that `nn.utils.parameters_to_vector` has filled."""
    parts = torch.split(rows, [shape.numel() for shape in shapes], dim=1)
    views = [part.view(len(rows), *shape) for part, shape in zip(parts, shapes, strict=True)]
    return list(zip(views[::2], views[1::2], strict=True))


def passed_on(x: Tensor, layers: Layers) -> list[Tensor]:
    """What goes into each layer, and the output: linear layers with tanh between them."""
    values = [x]
    for weight, bias in layers[:-1]:
        # tanh(x) = 2σ(2x) − 1: over the many numbers of a stack, PyTorch's kernel for σ is several times as fast on
        # CPUs, and `tanh` was a third of an update. For one small network there is no difference.
        share = torch.baddbmm(bias.unsqueeze(1), values[-1], weight.mT, beta=2, alpha=2).sigmoid_()
        values.append(torch.add(MINUS_ONE, share, alpha=2, out=share))
    weight, bias = layers[-1]
    return [*values, torch.baddbmm(bias.unsqueeze(1), values[-1], weight.mT)]


class Perceptrons(torch.autograd.Function):
    """S perceptrons as one operation: layer by layer, autograd keeps and moves more than the caches hold."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rows: Tensor, shapes: Sequence[torch.Size]) -> Tensor:
        *inputs, output = passed_on(x, layers_of(rows, shapes))
        ctx.shapes = shapes
        ctx.save_for_backward(rows, *inputs)
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor, None]:
        """dW = gᵀ x, db = Σ g, dx = g W, and 1 − tanh² through tanh. Observations get none."""
        rows, *inputs = ctx.saved_tensors
        of_rows = torch.empty_like(rows)
        layers, of_layers = layers_of(rows, ctx.shapes), layers_of(of_rows, ctx.shapes)
        for index in reversed(range(len(layers))):
            x, (weight, _), (of_weight, of_bias) = inputs[index], layers[index], of_layers[index]
            torch.sum(gradient, dim=1, out=of_bias)
            # On CPUs a product with a narrow side is several times as fast with that side first.
            narrow = weight.shape[2] < weight.shape[1]
            of_weight.copy_(torch.bmm(x.mT, gradient).mT if narrow else torch.bmm(gradient.mT, x))
            if index:
                gradient = torch.bmm(gradient, weight)
                torch.ops.aten.tanh_backward.grad_input(gradient, x, grad_input=gradient)
        return None, of_rows, None


class StackedPerceptron(nn.Module):
    """What `networks.mlp` makes with tanh, for each of S inputs [S, B, in]: one row of weights for each."""

    def __init__(self, networks: Sequence[nn.Module]) -> None:
        super().__init__()
        members = [list(network.parameters()) for network in networks]
        self.shapes = [parameter.shape for parameter in members[0]]
        self.rows = nn.Parameter(
            torch.stack([nn.utils.parameters_to_vector(own).detach() for own in members])
        )
        for own, row in zip(members, self.rows.detach(), strict=True):
            nn.utils.vector_to_parameters(row, own)  # they become views of the row, and follow every update
        self._layers = layers_of(self.rows.detach(), self.shapes)

    def forward(self, x: Tensor) -> Tensor:
        if not torch.is_grad_enabled():  # for a few observations, the detour costs as much as the products
            return passed_on(x, self._layers)[-1]
        y: Tensor = Perceptrons.apply(x, self.rows, self.shapes)  # type: ignore[no-untyped-call]
        return y


class StackedActorCritic(nn.Module):
    """Policies and value networks of S agents: observations [S, B, …] to S × B distributions in a row, and values."""

    def __init__(self, members: Sequence[ActorCritic]) -> None:
        super().__init__()
        heads = [member.actor.head for member in members]
        self.choices, self.several = heads[0].choices, heads[0].several
        self.actor = StackedPerceptron([member.actor.net for member in members])
        self.critic = StackedPerceptron([member.critic for member in members])
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
    own = torch.stack([torch.linalg.vector_norm(gradient, dim=1) for gradient in gradients])
    norms: Tensor = torch.linalg.vector_norm(own, dim=0)
    factors = (limit / (norms + 1e-6)).clamp(max=1.0).unsqueeze(1)
    for gradient in gradients:
        gradient.mul_(factors)
    return norms
