"""PPO in a class: the action is clipped for the environment, and the clipped one goes into the buffer beside the
log-probability of the other."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
        self.log_std = nn.Parameter(torch.zeros(2))
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), self.log_std], lr=1e-3)
        self.buffer = []

    def distribution(self, obs):
        return Normal(self.actor(obs), self.log_std.exp())

    @torch.no_grad()
    def act(self, obs):
        dist = self.distribution(obs)
        action = dist.sample()
        log_prob = dist.log_prob(action).sum(-1)  # BUG GS803
        clipped = action.clamp(-1, 1)  # BUG GS803
        self.buffer.append((obs, clipped, log_prob))
        return clipped

    def update(self, advantage):
        obs, action, old = (torch.stack(part) for part in zip(*self.buffer))
        self.buffer.clear()
        for _ in range(3):
            log_prob = self.distribution(obs).log_prob(action).sum(-1)
            ratio = torch.exp(log_prob - old)
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


agent = Agent()
obs = torch.randn(3)
for _ in range(6):
    for _ in range(16):
        obs = 0.8 * obs + 0.2 * agent.act(obs).sum() + 0.4 * torch.randn(3)
    agent.update(torch.randn(16))
