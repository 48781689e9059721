"""The ratio of old to new probabilities stands where that of new to old belongs.
Repaired here.

Round 10
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1024)
body = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
pi, v = nn.Linear(32, 4), nn.Linear(32, 1)
params = [*body.parameters(), *pi.parameters(), *v.parameters()]
optimizer = torch.optim.Adam(params, lr=3e-4)
for update in range(20):
    obs = torch.randn(96, 6)
    with torch.no_grad():
        hidden = body(obs)
        dist = Categorical(logits=pi(hidden))
        action = dist.sample()
        old = dist.log_prob(action)
        returns = (action == obs[:, :4].argmax(-1)).float()
        advantage = returns - v(hidden).squeeze(-1)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for rows in torch.randperm(96).split(32):
        hidden = body(obs[rows])
        dist = Categorical(logits=pi(hidden))
        logp = dist.log_prob(action[rows])
        ratio = (logp - old[rows]).exp()
        a = advantage[rows]
        policy = -torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
        loss = (
            policy
            + 0.5 * (v(hidden).squeeze(-1) - returns[rows]).pow(2).mean()
            - 0.01 * dist.entropy().mean()
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(params, 0.5)
        optimizer.step()
