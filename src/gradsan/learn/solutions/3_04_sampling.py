import torch
from torch import nn
from torch.distributions import Categorical


def update(policy: nn.Module, optimizer: torch.optim.Optimizer, states, reward_of) -> None:
    """Draw one action per state and make the rewarding ones more likely (means over the states)."""
    dist = Categorical(logits=policy(states))
    actions = dist.sample()
    rewards = reward_of(actions)
    loss = -(dist.log_prob(actions) * rewards).mean()
    loss = loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
