"""A hand-made activation keeps its input as a plain attribute of the context, where no version is checked; the residual
is then added to that input in place.
Repaired here.

Round 12
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(1203)


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        gate = torch.sigmoid(x)
        return grad * gate * (1 + x * (1 - gate))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, stream):
        x = self.inner(stream)
        return x + Swish.apply(x)


def torso(inputs, width=32, depth=2):
    return nn.Sequential(nn.Linear(inputs, width), *[Block(width) for _ in range(depth)])


def expectile(difference, level=0.8):
    weight = torch.where(difference > 0, level, 1 - level)
    return (weight * difference.pow(2)).mean()


critic = nn.Sequential(torso(8), nn.Linear(32, 1))
value = nn.Sequential(torso(6), nn.Linear(32, 1))
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
value_opt = torch.optim.Adam(value.parameters(), lr=1e-3)

states, actions = torch.randn(512, 6), torch.randn(512, 2).tanh()
rewards = -(actions - states[:, :2].tanh()).pow(2).sum(1)
following = 0.8 * states + 0.1 * actions.repeat(1, 3)

for update in range(60):
    pick = torch.randint(512, (48,))
    obs, action, reward, after = states[pick], actions[pick], rewards[pick], following[pick]
    with torch.no_grad():
        judged = critic(torch.cat([obs, action], 1)).squeeze(1)
    value_loss = expectile(judged - value(obs).squeeze(1))
    value_opt.zero_grad()
    value_loss.backward()
    value_opt.step()

    with torch.no_grad():
        goal = reward + 0.95 * value(after).squeeze(1)
    critic_loss = (critic(torch.cat([obs, action], 1)).squeeze(1) - goal).pow(2).mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
print("critic", critic_loss.item(), "value", value_loss.item())
