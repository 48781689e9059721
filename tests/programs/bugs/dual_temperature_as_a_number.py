"""The temperature of a dual loss leaves its tensor before the loss is made: the dual variable never learns."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 4))
log_eta, log_multiplier = nn.Parameter(torch.tensor(0.3)), nn.Parameter(torch.tensor(0.1))
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
dual_optimizer = torch.optim.Adam([log_eta, log_multiplier], lr=1e-2)

for _ in range(16):
    obs, q = torch.randn(32, 3), torch.randn(32, 4)
    log_policy = policy(obs).log_softmax(-1)
    eta = nn.functional.softplus(log_eta).item()  # BUG GS202
    temperature_loss = eta * 0.1 + eta * torch.logsumexp(q / eta, -1).mean()
    weights = torch.softmax(q / eta, -1)
    kl = -(log_policy.exp().detach() * (log_policy - log_policy.detach())).sum(-1).mean()
    multiplier = log_multiplier.exp()
    dual_loss = temperature_loss + multiplier * (0.01 - kl.item())
    dual_optimizer.zero_grad()
    dual_loss.backward()
    dual_optimizer.step()
    policy_loss = -(weights * log_policy).sum(-1).mean() + multiplier.item() * kl
    policy_optimizer.zero_grad()
    policy_loss.backward()
    policy_optimizer.step()
