"""A memory-saving scaled tanh as a custom function: its backward returns nothing for the learned scale.
Repaired here.

Round 3
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(313)


class ScaledTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        y = torch.tanh(x)
        ctx.save_for_backward(y, scale)
        return scale * y

    @staticmethod
    def backward(ctx, grad):
        y, scale = ctx.saved_tensors
        grad_x = grad * scale * (1 - y * y)
        return grad_x, (grad * y).sum(0)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, obs):
        return ScaledTanh.apply(self.net(obs), self.scale)


actor = Actor()
critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(60):
    obs = torch.randn(32, 4)
    action = actor(obs)
    reward = -(action.detach() - 2 * obs[:, :2]).pow(2).sum(-1, keepdim=True)
    critic_loss = (critic(torch.cat([obs, action.detach()], -1)) - reward).pow(2).mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    actor_loss = -critic(torch.cat([obs, action], -1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
