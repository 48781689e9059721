"""The advantages are computed once with live values, and several epochs run backward through them.

Round 8
Class: stays alive
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(810)
body = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
actor, critic = nn.Linear(32, 3), nn.Linear(32, 1)
everything = [*body.parameters(), *actor.parameters(), *critic.parameters()]
optimizer = torch.optim.Adam(everything, lr=3e-4)


def evaluate(obs):
    hidden = body(obs)
    return Categorical(logits=actor(hidden)), critic(hidden).squeeze(-1)


for iteration in range(20):
    obs = torch.randn(64, 6)
    dist, values = evaluate(obs)
    action = dist.sample()
    old = dist.log_prob(action).detach()
    returns = obs[:, 0] * (action - 1)
    advantages = returns - values  # BUG GS402 GS303 GS102
    for epoch in range(4):
        dist, now = evaluate(obs)
        ratio = (dist.log_prob(action) - old).exp()
        surrogate = torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)  # BUG GS303
        loss = -surrogate.mean() + 0.5 * (now - returns).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()  # BUG GS402
        optimizer.step()
