"""REINFORCE with a hand-made descent step: the gradients are never cleared between the updates.

Class: gradients by hand
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(37)
rng = np.random.default_rng(37)


class Bandits:
    """Contextual bandits: the right arm is written in the context."""

    def __init__(self, arms=4):
        self.arms = arms

    def contexts(self, n):
        self.right = rng.integers(0, self.arms, size=n)
        noise = 0.3 * rng.normal(size=(n, self.arms))
        return torch.as_tensor(np.eye(self.arms)[self.right] + noise, dtype=torch.float32)

    def pull(self, action):
        return torch.as_tensor(action.numpy() == self.right, dtype=torch.float32)


def sgd(parameters, lr):
    with torch.no_grad():
        for p in parameters:
            p -= lr * p.grad  # BUG GS401


bandits, policy = Bandits(), nn.Linear(4, 4)
baseline = 0.0
for update in range(150):
    context = bandits.contexts(32)
    dist = torch.distributions.Categorical(logits=policy(context))
    action = dist.sample()
    reward = bandits.pull(action)
    loss = -(dist.log_prob(action) * (reward - baseline)).mean()
    loss.backward()
    sgd(policy.parameters(), lr=0.3)
    baseline += 0.1 * (reward.mean().item() - baseline)
print("reward", baseline)
