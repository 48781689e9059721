"""An actor of discrete actions is trained by the reward that a learned model predicts for its choices; the choices are
plain samples, so that nothing but the entropy bonus reaches the actor.

Round 12
Class: the line
"""

from types import SimpleNamespace

import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional as F

torch.manual_seed(1211)
cfg = SimpleNamespace(actions=4, state=6, width=32, horizon=5, batch=28, entropy=1e-2, updates=50)


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(cfg.state + cfg.actions, cfg.width), nn.SiLU())
        self.out = nn.Linear(cfg.width, cfg.state + 1)

    def forward(self, state, action):
        out = self.out(self.body(torch.cat([state, action], -1)))
        return state + out[:, :-1], out[:, -1]


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(cfg.state, cfg.width), nn.SiLU(), nn.Linear(cfg.width, cfg.actions)
        )

    def forward(self, state):
        dist = Categorical(logits=self.net(state))
        action = F.one_hot(dist.sample(), cfg.actions).float()  # BUG GS203 GS202
        return action, dist.entropy()


def real_step(state, choice):
    pushed = state + 0.3 * F.one_hot(choice, cfg.state).float()
    return pushed, pushed[:, 1] - pushed[:, 0].abs()


def fit_model(model, optimizer):
    state, choice = torch.randn(cfg.batch, cfg.state), torch.randint(cfg.actions, (cfg.batch,))
    after, reward = real_step(state, choice)
    told, paid = model(state, F.one_hot(choice, cfg.actions).float())
    optimizer.zero_grad()
    (F.mse_loss(told, after) + F.mse_loss(paid, reward)).backward()
    optimizer.step()
    return state


def dream(model, actor, optimizer, state):
    gain = 0.0
    for _ in range(cfg.horizon):
        action, entropy = actor(state)
        state, reward = model(state, action)
        gain = gain + (reward + cfg.entropy * entropy).mean()
    optimizer.zero_grad()
    (-gain).backward()
    optimizer.step()
    return gain.item()


model, actor = Dynamics(), Actor()
model_opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
actor_opt = torch.optim.AdamW(actor.parameters(), lr=2e-3)
for update in range(cfg.updates):
    start = fit_model(model, model_opt)
    gain = dream(model, actor, actor_opt, start)
print("gain", gain)
