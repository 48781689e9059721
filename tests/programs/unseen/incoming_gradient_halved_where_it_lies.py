"""A learned model halves the gradient of its dynamics by a function of its own, whose backward scales the incoming
gradient in place; the addition hands the same tensor to the other branch, which is halved with it.

Round 12
Class: custom functions
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1204)


@dataclass
class Settings:
    unroll: int = 4
    width: int = 24
    actions: int = 3
    batch: int = 20


class ScaleGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        grad.mul_(ctx.scale)  # BUG GS104 GS101 GS211
        return grad, None


class Model(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.s = s
        self.represent = nn.Sequential(nn.Linear(6, s.width), nn.Tanh())
        self.carry = nn.Linear(s.width, s.width)
        self.change = nn.Sequential(nn.Linear(s.width + s.actions, s.width), nn.Tanh())
        self.policy = nn.Linear(s.width, s.actions)
        self.value = nn.Linear(s.width, 1)
        self.reward = nn.Linear(s.width, 1)

    def advance(self, state, action):
        kept = self.carry(state)
        change = self.change(torch.cat([state, F.one_hot(action, self.s.actions).float()], 1))
        return kept + ScaleGradient.apply(change, 0.5)

    def loss(self, obs, actions, rewards, returns, visits):
        state = self.represent(obs)
        total = F.mse_loss(self.value(state).squeeze(1), returns[0])
        for k in range(self.s.unroll):
            total = total + F.cross_entropy(self.policy(state), visits[k])
            state = self.advance(state, actions[k])
            total = total + F.mse_loss(self.reward(state).squeeze(1), rewards[k])
            total = total + F.mse_loss(self.value(state).squeeze(1), returns[k + 1])
        return total / self.s.unroll


def play(s: Settings):
    obs = torch.randn(s.batch, 6)
    actions = torch.randint(s.actions, (s.unroll, s.batch))
    rewards = obs[:, 0] * (actions == 0).float() - 0.2 * actions.float()
    returns = torch.zeros(s.unroll + 1, s.batch)
    for k in reversed(range(s.unroll)):
        returns[k] = rewards[k] + 0.9 * returns[k + 1]
    visits = (obs[:, 0] < 0).long().expand(s.unroll, -1)
    return obs, actions, rewards, returns, visits


settings = Settings()
model = Model(settings)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for update in range(60):
    loss = model.loss(*play(settings))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
