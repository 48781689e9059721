"""A factory makes one optimizer for the modules it is given; the shared encoder is not among them.

Round 2
Class: the line
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(236)


def make_optimizer(*modules, lr=1e-3):
    groups = [{"params": list(m.parameters())} for m in modules]
    return torch.optim.Adam(groups, lr=lr, eps=1e-5)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
        self.actor, self.critic = nn.Linear(32, 3), nn.Linear(32, 1)

    def forward(self, obs):
        features = self.encoder(obs)
        return Categorical(logits=self.actor(features)), self.critic(features).squeeze(-1)


class Probe:
    def __init__(self):
        self.net = nn.Linear(6, 1)
        self.optimizer = make_optimizer(self.net)


model, probe = ActorCritic(), Probe()
optimizer = make_optimizer(model.actor, model.critic)  # BUG GS205
for _ in range(60):
    obs = torch.randn(64, 6)
    dist, value = model(obs)
    action = dist.sample()
    reward = (action == obs[:, :3].argmax(1)).float()
    advantage = (reward - value).detach()
    loss = -(dist.log_prob(action) * advantage).mean() + (reward - value).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    probe_loss = (probe.net(obs).squeeze(-1) - reward).pow(2).mean()
    probe.optimizer.zero_grad()
    probe_loss.backward()
    probe.optimizer.step()
