import torch
from torch import nn
from torch.distributions import Categorical


def update(policy: nn.Module, optimizer: torch.optim.Optimizer, states, actions, returns) -> None:
    """One REINFORCE step on an episode that was already played."""
    log_probs = []
    for state, action in zip(states, actions):
        log_probs.append(Categorical(logits=policy(state)).log_prob(action))
    joined = torch.stack(log_probs)
    loss = -(joined * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
