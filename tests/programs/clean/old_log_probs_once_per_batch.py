"""The "old" log-probabilities are computed anew, on a new batch each time: one update per batch, and the ratio is
one by right. Likewise over minibatches each of which is used once."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def log_prob_of(obs, action):
    return Categorical(logits=policy(obs)).log_prob(action)


for _ in range(13):
    obs, action, advantage = torch.randn(32, 4), torch.randint(3, (32,)), torch.randn(32)
    with torch.no_grad():
        old = log_prob_of(obs, action)
    ratio = (log_prob_of(obs, action) - old).exp()
    loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for _ in range(4):
    obs, action, advantage = torch.randn(64, 4), torch.randint(3, (64,)), torch.randn(64)
    for rows in torch.randperm(64).split(16):
        with torch.no_grad():
            old = log_prob_of(obs[rows], action[rows])
        ratio = (log_prob_of(obs[rows], action[rows]) - old).exp()
        loss = -(ratio * advantage[rows]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

for _ in range(4):  # the gradient of the likelihood, by way of a ratio with itself
    obs, action, advantage = torch.randn(64, 4), torch.randint(3, (64,)), torch.randn(64)
    for _ in range(4):
        log_prob = log_prob_of(obs, action)
        loss = -((log_prob - log_prob.detach()).exp() * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

for _ in range(4):  # kept from the rollout; the weights learn too little to move the ratio much
    with torch.no_grad():
        obs, advantage = torch.randn(64, 4), torch.randn(64)
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        old = dist.log_prob(action)
    for group in optimizer.param_groups:
        group["lr"] = 1e-9
    for _ in range(4):
        ratio = (log_prob_of(obs, action) - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
