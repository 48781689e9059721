"""IMPALA: the importance weight of the policy gradient carries gradient itself."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.RMSprop(policy.parameters(), lr=5e-4)


def truncated_ratio(log_prob, behaviour, limit=1.0):
    rho = torch.exp(log_prob.detach() - behaviour)
    return torch.clamp(rho, max=limit)


for _ in range(12):
    obs, action, advantage = torch.randn(20, 4), torch.randint(3, (20,)), torch.randn(20)
    behaviour = torch.log(torch.full((20,), 1 / 3))
    log_prob = torch.distributions.Categorical(logits=policy(obs)).log_prob(action)
    rho = truncated_ratio(log_prob, behaviour)
    loss = -(rho * log_prob * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
