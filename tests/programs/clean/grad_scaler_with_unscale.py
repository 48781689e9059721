"""GradScaler: unscale, clip, step, update."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
scaler = torch.amp.GradScaler("cpu", init_scale=128.0)
for _ in range(12):
    obs, action, wanted = torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16, 1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        chosen = net(obs).gather(1, action)
        loss = nn.functional.smooth_l1_loss(chosen.float(), wanted)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
