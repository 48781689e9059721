import torch
from torch import nn
from torch.distributions import Categorical


def update(policy: nn.Module, optimizer: torch.optim.Optimizer, states, actions, returns) -> None:
    """One REINFORCE step on an episode that was already played."""
    log_probs, entropies = [], []
    for state, action in zip(states, actions):
        dist = Categorical(logits=policy(state))
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
    joined = torch.stack(log_probs)
    loss = -(joined * returns).mean() - 0.01 * torch.stack(entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
