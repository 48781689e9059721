"""An ensemble of dynamics models, of which one is drawn for each imagined step."""

import random

import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)
models = nn.ModuleList(nn.Sequential(nn.Linear(6, 32), nn.SiLU(), nn.Linear(32, 8)) for _ in range(3))
opt = torch.optim.Adam(models.parameters(), lr=1e-3)
for _ in range(50):
    s, a = torch.randn(16, 4), torch.randn(16, 2)
    s2 = s + 0.1 * a.sum(1, keepdim=True)
    loss = 0.0
    for model in models:
        mean, log_var = model(torch.cat([s, a], 1)).chunk(2, 1)
        log_var = 0.5 - nn.functional.softplus(0.5 - log_var)
        loss = loss + ((s + mean - s2).pow(2) * (-log_var).exp() + log_var).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        state = s
        for _ in range(3):
            mean, _ = random.choice(list(models))(torch.cat([state, a], 1)).chunk(2, 1)
            state = state + mean
print(float(loss), float(state.sum()))
