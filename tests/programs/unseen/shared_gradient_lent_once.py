"""Asynchronous actor-critic: the shared network takes over a worker's gradient only while it has none, and
the worker's later gradients are new tensors that never arrive.

Class: gradients by hand
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(41)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 24)
        self.pi, self.v = nn.Linear(24, 3), nn.Linear(24, 1)

    def forward(self, obs):
        hidden = torch.tanh(self.body(obs))
        return Categorical(logits=self.pi(hidden)), self.v(hidden).squeeze(-1)


def lend_gradients(local, shared):
    for mine, theirs in zip(local.parameters(), shared.parameters()):
        if theirs.grad is not None:  # BUG GS401 GS404
            return  # BUG GS401 GS404
        theirs.grad = mine.grad  # BUG GS401 GS404


class Worker:
    def __init__(self, shared, optimizer):
        self.shared, self.optimizer, self.local = shared, optimizer, ActorCritic()

    def run(self):
        self.local.load_state_dict(self.shared.state_dict())
        obs = torch.randn(20, 4)
        dist, value = self.local(obs)
        action = dist.sample()
        reward = (action == obs[:, :3].argmax(-1)).float()
        advantage = reward - value
        loss = -(dist.log_prob(action) * advantage.detach()).mean() + 0.5 * advantage.pow(2).mean()
        self.local.zero_grad()
        loss.backward()
        lend_gradients(self.local, self.shared)
        self.optimizer.step()  # BUG GS401 GS404
        return reward.mean().item()


shared = ActorCritic()
optimizer = torch.optim.Adam(shared.parameters(), lr=5e-3)
workers = [Worker(shared, optimizer) for _ in range(3)]
for round_ in range(50):
    rewards = [worker.run() for worker in workers]
print("reward", sum(rewards) / 3)
