"""TD3 as a class: the smaller of the two target critics is taken of the first one and the first one."""

import copy

import torch
from torch import nn

torch.manual_seed(17)
OBS, ACT = 4, 2


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))


class Critics(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1, self.q2 = network(OBS + ACT, 1), network(OBS + ACT, 1)

    def forward(self, obs, action):
        both = torch.cat([obs, action], 1)
        return self.q1(both), self.q2(both)

    def smaller(self, obs, action):
        both = torch.cat([obs, action], 1)
        return torch.min(self.q1(both), self.q1(both))  # BUG GS606


class TD3:
    def __init__(self):
        self.actor, self.critics = network(OBS, ACT), Critics()
        self.actor_target, self.critics_target = copy.deepcopy(self.actor), copy.deepcopy(self.critics)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critics_opt = torch.optim.Adam(self.critics.parameters(), lr=1e-3)

    def update(self, step):
        obs, action, following = torch.randn(32, OBS), torch.randn(32, ACT), torch.randn(32, OBS)
        reward, over = torch.randn(32, 1), (torch.rand(32, 1) < 0.1).float()
        with torch.no_grad():
            noise = (torch.randn(32, ACT) * 0.2).clamp(-0.5, 0.5)
            next_action = (torch.tanh(self.actor_target(following)) + noise).clamp(-1, 1)
            value = self.critics_target.smaller(following, next_action)
            target = reward + 0.99 * (1 - over) * value
        first, second = self.critics(obs, action)
        loss = (first - target).pow(2).mean() + (second - target).pow(2).mean()
        self.critics_opt.zero_grad()
        loss.backward()
        self.critics_opt.step()
        if step % 2 == 0:
            actor_loss = -self.critics(obs, torch.tanh(self.actor(obs)))[0].mean()
            self.actor_opt.zero_grad()
            actor_loss.backward()
            self.actor_opt.step()
            for slow, fast in ((self.actor_target, self.actor), (self.critics_target, self.critics)):
                for old, new in zip(slow.parameters(), fast.parameters()):
                    old.data.lerp_(new.data, 0.01)


agent = TD3()
for step in range(24):
    agent.update(step)
