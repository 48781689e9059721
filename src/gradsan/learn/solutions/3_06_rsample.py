import torch
from torch import nn
from torch.distributions import Normal


def update(policy: nn.Module, optimizer: torch.optim.Optimizer, states, critic) -> None:
    """Move the policy towards actions that `critic(states, actions)` values more."""
    mean, log_std = policy(states).chunk(2, dim=-1)
    dist = Normal(mean, log_std.exp())
    actions = dist.rsample()
    loss = -critic(states, actions).mean() + 0.01 * mean.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
