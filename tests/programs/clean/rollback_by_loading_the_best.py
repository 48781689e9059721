"""The best weights are kept as a copy, evaluated, and loaded back when the score drops."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
best = copy.deepcopy(policy)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for update in range(30):
    obs, action, advantage = torch.randn(16, 3), torch.randint(2, (16,)), torch.randn(16)
    log_prob = torch.distributions.Categorical(logits=policy(obs)).log_prob(action)
    loss = -(log_prob * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 5 == 4:
        with torch.no_grad():
            test = torch.randn(64, 3)
            worse = policy(test).amax(-1).mean() < best(test).amax(-1).mean()
        if worse or update in (14, 24):
            policy.load_state_dict(best.state_dict())
        else:
            best.load_state_dict(policy.state_dict())
