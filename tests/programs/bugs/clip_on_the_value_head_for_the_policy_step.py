"""The policy's step is preceded by a clip of the value head."""

import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
policy_head, value_head = nn.Linear(16, 2), nn.Linear(16, 1)
value_optimizer = torch.optim.SGD([*trunk.parameters(), *value_head.parameters()], lr=1e-2)
policy_optimizer = torch.optim.SGD(policy_head.parameters(), lr=1e-2)
for _ in range(12):
    obs, action, returns = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16)
    hidden = trunk(obs)
    value = value_head(hidden).squeeze(-1)
    value_optimizer.zero_grad()
    (value - returns).pow(2).mean().backward()
    nn.utils.clip_grad_norm_([*trunk.parameters(), *value_head.parameters()], 1.0)
    value_optimizer.step()
    dist = torch.distributions.Categorical(logits=policy_head(hidden.detach()))
    loss = -(dist.log_prob(action) * (returns - value.detach())).mean()
    policy_optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(value_head.parameters(), 1.0)  # BUG GS505 GS504
    policy_optimizer.step()
