"""Gradient accumulation with clipping, a scheduler and bfloat16 autocast."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 2))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=10)
for _ in range(10):
    optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for _ in range(4):
        obs, action, advantage = torch.randn(8, 4), torch.randint(2, (8,)), torch.randn(8)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = net(obs)
        log_prob = torch.distributions.Categorical(logits=logits.float()).log_prob(action)
        loss = -(log_prob * advantage).mean() / 4
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    schedule.step()
