# 2.04  Functional forms
#
# A return is a recursion from the end of the episode: G[t] = r[t] + γ·G[t+1].
# Writing it into a tensor that was made beforehand looks natural, but each
# `returns[t] = …` overwrites a tensor of which a part, returns[t + 1], has just
# been saved for backward (the slope for γ needs it).
#
# The functional form never writes into a tensor: collect the steps in a Python
# list and join them with `torch.stack` at the end. In the same spirit,
# `torch.where(mask, a, b)` replaces `a[~mask] = b`, `x.clamp(…)` replaces
# `x.clamp_(…)`, and `x = x + y` replaces `x += y`.
#
# Your task: compute the returns without slice assignment. γ is learned here, so
# it needs its gradient.

import torch


def discounted(rewards: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
    """The discounted return from each step of one episode to its end."""
    returns = torch.zeros(len(rewards) + 1)
    for t in reversed(range(len(rewards))):
        returns[t] = rewards[t] + gamma * returns[t + 1]  # TODO: collect and stack instead
    return returns[:-1]


def gamma_gradient(rewards: torch.Tensor, gamma: float) -> float:
    """How the mean return changes with γ. This function is right."""
    g = torch.tensor(gamma, requires_grad=True)
    discounted(rewards, g).mean().backward()
    return g.grad.item()


if __name__ == "__main__":
    print("slope of the mean return:", gamma_gradient(torch.tensor([1.0, 2.0, 2.0]), 0.5))
