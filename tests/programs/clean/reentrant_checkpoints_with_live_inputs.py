"""Reentrant checkpoints that are right: rollouts without gradient, then an embedding that lets gradient in."""

import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

warnings.simplefilter("ignore")
torch.manual_seed(0)
embed, body, head = nn.Linear(4, 16), nn.Sequential(nn.Linear(16, 16), nn.Tanh()), nn.Linear(16, 2)
parameters = [*embed.parameters(), *body.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)


def logits_of(obs):
    return head(checkpoint(body, embed(obs), use_reentrant=True))


for _ in range(10):
    obs, advantage = torch.randn(16, 4), torch.randn(16)
    with torch.no_grad():
        action = torch.distributions.Categorical(logits=logits_of(obs)).sample()
    log_prob = torch.distributions.Categorical(logits=logits_of(obs)).log_prob(action)
    loss = -(log_prob * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
