# 3.05  torch.tensor() on log-probs
#
# During an episode the log-probabilities pile up in a Python list. To make one
# tensor of them, `torch.tensor(list)` looks right, runs, and copies the numbers
# without their history. backward() then complains that nothing requires grad.
# Do not give it what it asks for: with requires_grad=True on the copy nothing
# complains any more, the gradient ends at the copy, and the policy is never
# trained. `torch.stack(list)` joins tensors and keeps their history.
#
# The same holds for torch.as_tensor, torch.FloatTensor and NumPy arrays.
#
# Your task: join the log-probs with their history.

import torch
from torch import nn
from torch.distributions import Categorical


def update(policy: nn.Module, optimizer: torch.optim.Optimizer, states, actions, returns) -> None:
    """One REINFORCE step on an episode that was already played."""
    log_probs = []
    for state, action in zip(states, actions):
        log_probs.append(Categorical(logits=policy(state)).log_prob(action))
    joined = torch.tensor(log_probs)  # TODO: copies the numbers, drops their history
    loss = -(joined * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
