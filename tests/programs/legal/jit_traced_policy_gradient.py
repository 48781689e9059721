"""A traced policy inside REINFORCE, re-traced as it goes."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
fast = torch.jit.trace(policy, torch.zeros(1, 4))
for _ in range(25):
    states = torch.randn(12, 4)
    with torch.no_grad():
        actions = torch.distributions.Categorical(logits=fast(states)).sample()
    returns = torch.where(actions == (states[:, 0] > 0).long(), 1.0, -1.0)
    logp = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
    loss = -(logp * returns).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss), len(list(fast.graph.nodes())))
