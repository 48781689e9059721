# 3.06  Samples with a slope
#
# For continuous actions there is a second way. Write the draw as
#
#     action = mean + std · noise
#
# and the randomness sits in `noise` alone: the action moves smoothly with mean
# and std, and a critic can tell the policy in which direction to move it. This
# is the reparameterisation that DDPG's cousins, above all SAC, rest on.
#
# `dist.sample()` computes the same action but without its history;
# `dist.rsample()` keeps it.
#
# Your task: let the critic's opinion reach the policy.

import torch
from torch import nn
from torch.distributions import Normal


def update(policy: nn.Module, optimizer: torch.optim.Optimizer, states, critic) -> None:
    """Move the policy towards actions that `critic(states, actions)` values more."""
    mean, log_std = policy(states).chunk(2, dim=-1)
    dist = Normal(mean, log_std.exp())
    actions = dist.sample()  # TODO: without history
    loss = -critic(states, actions).mean() + 0.01 * mean.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
