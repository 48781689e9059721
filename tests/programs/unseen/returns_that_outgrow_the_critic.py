"""A value bootstrapped from itself with a discount above one: target, loss and gradient grow without end.

Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(307)


class Config:
    lr = 3e-2
    tau = 0.5
    gamma = 1.5  # BUG GS501


def make():
    return nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))


critic, target = make(), make().requires_grad_(False)
target.load_state_dict(critic.state_dict())
optimizer = torch.optim.SGD(critic.parameters(), lr=Config.lr)
for update in range(250):
    obs, next_obs = torch.rand(32, 3), torch.rand(32, 3)
    reward = 1.0 + obs.sum(-1, keepdim=True)
    goal = reward + Config.gamma * target(next_obs)
    loss = (critic(obs) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # BUG GS501
    optimizer.step()
    for old, new in zip(target.parameters(), critic.parameters()):
        old.lerp_(new.detach(), Config.tau)
print("loss", loss.item())
