"""Both optimizers step, but only the policy's loss was differentiated."""

import torch
from torch import nn

torch.manual_seed(0)
pi, v = nn.Linear(4, 2), nn.Linear(4, 1)
pi_optimizer = torch.optim.Adam(pi.parameters(), lr=1e-3)
v_optimizer = torch.optim.Adam(v.parameters(), lr=1e-3)
for _ in range(15):
    obs, action, returns = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16)
    value = v(obs).squeeze(-1)
    advantage = returns - value.detach()
    log_prob = torch.distributions.Categorical(logits=pi(obs)).log_prob(action)
    pi_loss = -(log_prob * advantage).mean()
    v_loss = nn.functional.mse_loss(value, returns)
    pi_optimizer.zero_grad()
    v_optimizer.zero_grad()
    pi_loss.backward()
    pi_optimizer.step()
    v_optimizer.step()  # BUG GS404
