"""SAC in a class: the temperature's loss lacks its minus, so that it falls when the entropy is too low."""

import copy

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)


class SAC:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 4))
        self.q = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
        self.target_q = copy.deepcopy(self.q)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.target_entropy = -2.0
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.q_optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3)
        self.alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=1e-3)

    def act(self, obs):
        mean, log_std = self.actor(obs).chunk(2, -1)
        dist = Normal(mean, log_std.clamp(-5, 2).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_prob = dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(-1, keepdim=True)

    def update(self, obs, action, reward, after):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            next_action, next_log_prob = self.act(after)
            next_q = self.target_q(torch.cat([after, next_action], -1)) - alpha * next_log_prob
            target = reward + 0.99 * next_q
        q_loss = (self.q(torch.cat([obs, action], -1)) - target).pow(2).mean()
        self.q_optimizer.zero_grad()
        q_loss.backward()
        self.q_optimizer.step()

        new_action, log_prob = self.act(obs)
        actor_loss = (alpha * log_prob - self.q(torch.cat([obs, new_action], -1))).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        alpha_loss = (self.log_alpha * (log_prob + self.target_entropy).detach()).mean()  # BUG GS802
        self.alpha_optimizer.zero_grad()
        alpha_loss.backward()
        self.alpha_optimizer.step()
        with torch.no_grad():
            for p, t in zip(self.q.parameters(), self.target_q.parameters()):
                t.lerp_(p, 0.005)


agent = SAC()
for _ in range(16):
    agent.update(torch.randn(16, 3), torch.randn(16, 2).tanh(), torch.randn(16, 1), torch.randn(16, 3))
