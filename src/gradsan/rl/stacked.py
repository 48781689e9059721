"""Small networks of one shape, computed together: their weights are stacked, and a layer is one batched product.

Gradients stay apart: what a network puts out depends on its own slice of the weights alone, so that the gradient of the
sum of all losses is, slice by slice, the gradient of each.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from gradsan.rl.networks import MINUS_ONE

Layers = list[tuple[Tensor, Tensor]]


def layers_of(rows: Tensor, shapes: Sequence[Sequence[torch.Size]]) -> list[Layers]:
    """Of each network the weights [S, out, in] and biases [S, out]: views of rows that
    `nn.utils.parameters_to_vector` has filled."""
    parts = iter(torch.split(rows, [shape.numel() for network in shapes for shape in network], dim=1))
    views = [[next(parts).view(len(rows), *shape) for shape in network] for network in shapes]
    return [list(zip(own[::2], own[1::2], strict=True)) for own in views]


class Room(NamedTuple):
    """Where hidden layers and the gradients of them are computed, of each network: what is allocated anew is cold in
    the caches."""

    values: list[list[Tensor]]
    gradients: list[list[Tensor]]

    @classmethod
    def of(cls, networks: Sequence[Layers], batch: int) -> Room:
        values = [
            [bias.new_empty(len(bias), batch, bias.shape[1]) for _, bias in layers[:-1]]
            for layers in networks
        ]
        # A gradient is needed only until the next one is there, so that two places of a size are enough for all.
        places: dict[tuple[int, torch.Size], Tensor] = {}
        gradients = [
            [places.setdefault((index % 2, value.shape), torch.empty_like(value)) for index, value in own]
            for own in map(enumerate, values)
        ]
        return cls(values, gradients)


def passed_on(x: Tensor, layers: Layers, room: list[Tensor]) -> tuple[list[Tensor], Tensor]:
    """What goes into each layer, and the output [S, out, B]: linear layers with tanh between them."""
    values = [x]
    for (weight, bias), place in zip(layers[:-1], room, strict=True):
        # As `networks.Tanh`; over the many numbers of a stack, `tanh` was a third of an update.
        torch.baddbmm((2 * bias).unsqueeze(1), values[-1], weight.mT, alpha=2, out=place).sigmoid_()
        values.append(torch.add(MINUS_ONE, place, alpha=2, out=place))
    weight, bias = layers[-1]
    return values, torch.baddbmm(bias.unsqueeze(2), weight, values[-1].mT)


def passed_back(
    gradient: Tensor, values: Sequence[Tensor], layers: Layers, found: Layers, room: list[Tensor]
) -> None:
    """From the gradient of the output [S, out, B] to those of the layers, which are put into `found`: dW = gᵀ x,
    db = Σ g, dx = g W, and 1 − tanh² through tanh."""
    gradient = gradient.mT
    for index in reversed(range(len(layers))):
        x, (weight, _), (of_weight, of_bias) = values[index], layers[index], found[index]
        torch.sum(gradient, dim=1, out=of_bias)
        # On CPUs a product with a narrow side is several times as fast with that side first.
        narrow = weight.shape[2] < weight.shape[1]
        of_weight.copy_(torch.bmm(x.mT, gradient).mT if narrow else torch.bmm(gradient.mT, x))
        if index:
            gradient = torch.bmm(gradient, weight, out=room[index - 1])
            torch.ops.aten.tanh_backward.grad_input(gradient, x, grad_input=gradient)


class Perceptrons(torch.autograd.Function):
    """All networks of a stack as one operation: layer by layer, autograd keeps and moves more than the caches hold.
    What goes in gets no gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rows: Tensor, stack: StackedPerceptrons) -> tuple[Tensor, ...]:
        rooms = stack.room(x.shape[1]).values
        passed = [passed_on(x, layers, room) for layers, room in zip(stack.layers, rooms, strict=True)]
        ctx.stack = stack
        # Saved although at hand: PyTorch refuses the backward of what the next forward has written over.
        ctx.save_for_backward(rows, *(value for values, _ in passed for value in values))
        return tuple(output for _, output in passed)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, None]:
        stack: StackedPerceptrons = ctx.stack
        saved = iter(ctx.saved_tensors[1:])
        rooms = stack.room(gradients[0].shape[2]).gradients
        for gradient, layers, found, room in zip(
            gradients, stack.layers, stack.of_layers, rooms, strict=True
        ):
            passed_back(gradient, [next(saved) for _ in layers], layers, found, room)
        return None, stack.of_rows, None  # filled anew each time: autograd takes a copy


class StackedPerceptrons(nn.Module):
    """Networks as `networks.mlp` makes them with tanh, of every kind one for each of S inputs [S, B, in]. A row of
    weights holds those of all kinds, one after another."""

    def __init__(self, *kinds: Sequence[nn.Module]) -> None:
        super().__init__()
        members = [[list(network.parameters()) for network in group] for group in zip(*kinds, strict=True)]
        own = [list(itertools.chain.from_iterable(group)) for group in members]
        self.rows = nn.Parameter(torch.stack([nn.utils.parameters_to_vector(each).detach() for each in own]))
        for each, row in zip(own, self.rows.detach(), strict=True):
            nn.utils.vector_to_parameters(row, each)  # they become views of the row, and follow every update
        shapes = [[parameter.shape for parameter in network] for network in members[0]]
        self.of_rows = torch.empty_like(self.rows, requires_grad=False)
        self.layers, self.of_layers = layers_of(self.rows.detach(), shapes), layers_of(self.of_rows, shapes)
        self._rooms: dict[int, Room] = {}

    def room(self, batch: int) -> Room:
        if batch not in self._rooms:
            self._rooms[batch] = Room.of(self.layers, batch)
        return self._rooms[batch]

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        """The outputs of each kind [S, out, B]."""
        outputs: tuple[Tensor, ...] = Perceptrons.apply(x, self.rows, self)  # type: ignore[no-untyped-call]
        return outputs

    @torch.no_grad()
    def constant(self, x: Tensor, kind: int) -> Tensor:
        """Those of one kind, without a graph."""
        return passed_on(x, self.layers[kind], self.room(x.shape[1]).values[kind])[1]


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
