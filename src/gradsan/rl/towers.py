"""Two networks of the same shape that read the same observation and share nothing.

Batched as one, they need half as many kernels and two thirds of the optimizer's slots.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gradsan.rl.networks import body, orthogonal
from gradsan.rl.spaces import Observations


class Towers(nn.Module):
    """Perceptrons with `tanh`, side by side: weight [2, in, out] per hidden layer, and a head each."""

    def __init__(
        self,
        observations: Observations,
        hidden: Sequence[int],
        outputs: tuple[int, int],
        gains: tuple[float, float],
    ) -> None:
        super().__init__()
        sizes = (observations.shape[0], *hidden)
        # A plain list beside the registered names: iterating a ParameterList costs as much as a small kernel.
        self._layers: list[tuple[nn.Parameter, nn.Parameter]] = []
        for index, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes)):
            weight, bias = (
                nn.Parameter(torch.empty(2, fan_in, fan_out)),
                nn.Parameter(torch.zeros(2, 1, fan_out)),
            )
            for tower in weight.data:
                nn.init.orthogonal_(tower, math.sqrt(2))
            self.register_parameter(f"weight{index}", weight)
            self.register_parameter(f"bias{index}", bias)
            self._layers.append((weight, bias))
        self.heads = nn.ModuleList(nn.Linear(sizes[-1], size) for size in outputs)
        for head, gain in zip(self.heads, gains, strict=True):
            orthogonal(head, gain)

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        both = obs.expand(2, *obs.shape)
        for weight, bias in self._layers:
            both = torch.tanh(torch.baddbmm(bias, both, weight))
        first, second = both.unbind()
        return self.heads[0](first), self.heads[1](second)

    def one(self, tower: int, obs: Tensor) -> Tensor:
        """The output of one of the two."""
        for weight, bias in self._layers:
            obs = torch.tanh(torch.addmm(bias[tower], obs, weight[tower]))
        output: Tensor = self.heads[tower](obs)
        return output


class Pair(nn.Module):
    """The same interface for images, whose convolutions leave nothing to gain from batching."""

    def __init__(
        self,
        observations: Observations,
        hidden: Sequence[int],
        outputs: tuple[int, int],
        gains: tuple[float, float],
    ) -> None:
        super().__init__()
        bodies = [body(observations, hidden, size, nn.Tanh) for size in outputs]
        self.bodies = nn.ModuleList(orthogonal(*pair) for pair in zip(bodies, gains, strict=True))

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        return self.bodies[0](obs), self.bodies[1](obs)

    def one(self, which: int, obs: Tensor) -> Tensor:
        output: Tensor = self.bodies[which](obs)
        return output
