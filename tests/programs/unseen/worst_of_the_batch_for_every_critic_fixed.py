"""An ensemble of critics, stacked first: the smallest value of the target is taken along the batch.
Repaired here.

Round 12
Class: axes
"""

import copy

import torch
from torch import nn

torch.manual_seed(1202)
MEMBERS, BATCH = 5, 32


class Ensemble(nn.Module):
    """All members in one batched product: weights [members, in, out]."""

    def __init__(self, inputs, hidden=32):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(MEMBERS, inputs, hidden) / inputs**0.5)
        self.b1 = nn.Parameter(torch.zeros(MEMBERS, 1, hidden))
        self.w2 = nn.Parameter(torch.randn(MEMBERS, hidden, 1) / hidden**0.5)
        self.b2 = nn.Parameter(torch.zeros(MEMBERS, 1, 1))

    def forward(self, obs, action):
        x = torch.cat([obs, action], -1).expand(MEMBERS, -1, -1)
        x = torch.relu(torch.baddbmm(self.b1, x, self.w1))
        return torch.baddbmm(self.b2, x, self.w2)


class PessimisticAgent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
        self.critics = Ensemble(6)
        self.targets = copy.deepcopy(self.critics).requires_grad_(False)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critics.parameters(), lr=1e-3)

    @torch.no_grad()
    def goal(self, reward, done, after):
        values = self.targets(after, self.actor(after)).squeeze(-1)
        worst = values.amin(dim=0, keepdim=True)
        return reward + 0.97 * (1 - done) * worst

    def learn_critics(self, obs, action, reward, done, after):
        goal = self.goal(reward, done, after)
        loss = (self.critics(obs, action).squeeze(-1) - goal).pow(2).mean(1).sum()
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
        for slow, fast in zip(self.targets.parameters(), self.critics.parameters()):
            slow.lerp_(fast.data, 0.02)

    def learn_actor(self, obs):
        loss = -self.critics(obs, self.actor(obs)).mean()
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()


agent = PessimisticAgent()
for update in range(80):
    obs, action = torch.randn(BATCH, 4), torch.rand(BATCH, 2) * 2 - 1
    after = 0.9 * obs + 0.1 * torch.cat([action, action], -1)
    reward = -after[:, :2].pow(2).sum(-1)
    done = (torch.rand(BATCH) < 0.05).float()
    agent.learn_critics(obs, action, reward, done, after)
    if update % 2:
        agent.learn_actor(obs)
