"""Value, policy and entropy are differentiated one after the other into one step."""

import torch
from torch import nn

torch.manual_seed(0)
trunk, pi, v = nn.Sequential(nn.Linear(4, 16), nn.Tanh()), nn.Linear(16, 2), nn.Linear(16, 1)
optimizer = torch.optim.RMSprop([*trunk.parameters(), *pi.parameters(), *v.parameters()], lr=7e-4)
for _ in range(12):
    obs, returns = torch.randn(20, 4), torch.randn(20)
    hidden = trunk(obs)
    dist, value = torch.distributions.Categorical(logits=pi(hidden)), v(hidden).squeeze(-1)
    action = dist.sample()
    advantage = (returns - value).detach()
    optimizer.zero_grad()
    (0.5 * (returns - value).pow(2).mean()).backward(retain_graph=True)
    (-(dist.log_prob(action) * advantage).mean()).backward(retain_graph=True)
    (-0.01 * dist.entropy().mean()).backward()
    optimizer.step()
