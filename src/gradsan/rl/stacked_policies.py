"""Policies and value networks of many agents as one stack, and the distributions that they put out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from gradsan.rl.policies import ActorCritic, Categorical, Distribution, Gaussian, MultiCategorical
from gradsan.rl.stacked import StackedPerceptrons

ACTOR, CRITIC = 0, 1


class Distributions(NamedTuple):
    """Of S × B actions, from the output of S policies [S, A, B]. Log-probabilities and entropies are [S, B]."""

    output: Tensor
    choices: tuple[int, ...]
    several: bool
    log_std: Tensor | None

    def log_prob(self, action: Tensor) -> Tensor:
        shape = action.shape[:2]
        if len(self.choices) == 1:
            # As `categorical_log_prob`, along this dimension: over a few neighbours PyTorch's softmax is slow.
            taken = action.view(len(action), 1, -1)
            return functional.log_softmax(self.output, dim=1).gather(1, taken).squeeze(1)
        return self.in_a_row().log_prob(action.flatten(0, 1)).view(shape)

    def entropy(self) -> Tensor:
        return self.in_a_row().entropy().view(len(self.output), -1)

    def in_a_row(self) -> Distribution:
        """All S × B of them, as one agent has them."""
        flat = self.output.mT.flatten(0, 1)
        if self.log_std is not None:
            return Gaussian(flat, self.log_std.unsqueeze(1).expand_as(self.output.mT).flatten(0, 1))
        if self.several:
            return MultiCategorical(tuple(map(Categorical, torch.split(flat, list(self.choices), dim=1))))
        return Categorical(flat)


class StackedActorCritic(nn.Module):
    """Those of S agents, for observations [S, B, …]."""

    def __init__(self, members: Sequence[ActorCritic]) -> None:
        super().__init__()
        heads = [member.actor.head for member in members]
        self.choices, self.several = heads[0].choices, heads[0].several
        self.stack = StackedPerceptrons(
            [member.actor.net for member in members], [member.critic for member in members]
        )
        own = [head.log_std for head in heads if head.log_std is not None]
        self.log_std = stacked(own) if own else None

    def forward(self, obs: Tensor) -> tuple[Distributions, Tensor]:
        output, value = self.stack(obs)
        return Distributions(output, self.choices, self.several, self.log_std), value.squeeze(1)

    def policy(self, obs: Tensor) -> Distributions:
        """As constants, as those of `value` [S, B]."""
        log_std = None if self.log_std is None else self.log_std.detach()
        return Distributions(self.stack.constant(obs, ACTOR), self.choices, self.several, log_std)

    def value(self, obs: Tensor) -> Tensor:
        return self.stack.constant(obs, CRITIC).squeeze(1)


def stacked(tensors: Sequence[Tensor]) -> nn.Parameter:
    """One parameter for all. The originals become views of it: they follow every update."""
    together = nn.Parameter(torch.stack([tensor.detach() for tensor in tensors]))
    for tensor, own in zip(tensors, together.detach(), strict=True):
        tensor.data = own
    return together
