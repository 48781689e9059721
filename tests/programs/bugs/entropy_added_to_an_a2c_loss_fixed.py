"""A2C in one file: the entropy is added to the loss, and falls (after open_spiel #962)."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
pi, v = nn.Linear(32, 3), nn.Linear(32, 1)
parameters = [*body.parameters(), *pi.parameters(), *v.parameters()]
optimizer = torch.optim.RMSprop(parameters, lr=1e-3)
for _ in range(20):
    obs, returns = torch.randn(20, 4), torch.randn(20)
    hidden = body(obs)
    dist, value = Categorical(logits=pi(hidden)), v(hidden).squeeze(-1)
    action = dist.sample()
    advantage = returns - value
    policy_loss = -(dist.log_prob(action) * advantage.detach()).mean()
    value_loss = advantage.pow(2).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 0.5)
    optimizer.step()
