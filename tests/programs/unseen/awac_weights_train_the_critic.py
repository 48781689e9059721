"""AWAC: the actor's weights are a softmax of live advantages, and one optimizer holds actor and critic.

Round 2
Class: weights
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

torch.manual_seed(226)


class AWAC:
    def __init__(self, obs_dim=4, act_dim=2, beta=1.0):
        self.actor = nn.Sequential(nn.Linear(obs_dim, 32), nn.ReLU(), nn.Linear(32, act_dim))
        self.q = nn.Sequential(nn.Linear(obs_dim + act_dim, 32), nn.ReLU(), nn.Linear(32, 1))
        self.q_target = copy.deepcopy(self.q)
        self.beta = beta
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.q.parameters()], lr=1e-3)

    def value(self, q, obs, action):
        return q(torch.cat([obs, action], -1)).squeeze(-1)

    def critic_loss(self, obs, action, reward, next_obs):
        with torch.no_grad():
            goal = reward + 0.95 * self.value(self.q_target, next_obs, self.actor(next_obs))
        return F.mse_loss(self.value(self.q, obs, action), goal)

    def actor_loss(self, obs, action):
        mean = self.actor(obs)
        baseline = self.value(self.q, obs, mean.detach())
        advantage = self.value(self.q, obs, action) - baseline  # BUG GS303
        weight = F.softmax(advantage / self.beta, dim=0)  # BUG GS303
        log_prob = Normal(mean, 0.4).log_prob(action).sum(-1)
        return -(log_prob * weight).sum()  # BUG GS303

    def update(self, batch):
        loss = self.critic_loss(*batch) + self.actor_loss(batch[0], batch[1])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for t, s in zip(self.q_target.parameters(), self.q.parameters()):
                t.mul_(0.99).add_(0.01 * s)


agent = AWAC()
for _ in range(50):
    obs, action = torch.randn(64, 4), torch.randn(64, 2)
    agent.update((obs, action, -(action - obs[:, :2]).pow(2).sum(-1), torch.randn(64, 4)))
