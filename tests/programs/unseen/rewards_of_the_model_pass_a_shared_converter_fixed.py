"""A shared converter makes tensors of everything it is handed; one caller hands it the model's live predictions.
Repaired here.

Round 4
Class: the line
"""

import torch
from torch import nn

torch.manual_seed(425)


def as_batch(items):
    return torch.tensor(items, dtype=torch.float32)


class Imagination:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 2), nn.Tanh())
        self.model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 5))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.model_optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def learn_model(self, obs, action, after, reward):
        guess = self.model(torch.cat([obs, action], 1))
        goal = torch.cat([after, as_batch([float(r) for r in reward])[:, None]], 1)
        loss = (guess - goal).pow(2).mean()
        self.model_optimizer.zero_grad()
        loss.backward()
        self.model_optimizer.step()

    def learn_actor(self, obs):
        rewards, effort = [], 0.0
        for _ in range(4):
            action = self.actor(obs)
            out = self.model(torch.cat([obs, action], 1))
            obs = obs + 0.1 * out[:, :4]
            rewards.append(out[:, 4].mean())
            effort = effort + action.pow(2).mean()
        loss = 0.01 * effort - torch.stack(rewards).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()
        self.actor_optimizer.step()


agent = Imagination()
for update in range(40):
    obs, action = torch.randn(32, 4), torch.rand(32, 2) * 2 - 1
    agent.learn_model(obs, action, 0.9 * obs, (obs[:, :2] * action).sum(1))
    agent.learn_actor(torch.randn(16, 4))
