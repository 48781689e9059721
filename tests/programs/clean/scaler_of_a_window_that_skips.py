"""Mixed precision with accumulation: the scale starts far too high, so the first steps are skipped; gradients carry the
scale until `unscale_`, and are clipped after it."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=6)
for step in range(48):
    states, actions, weights = torch.randn(16, 8), torch.randint(4, (16, 1)), torch.randn(16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(states)
    logp = logits.float().log_softmax(-1).gather(1, actions).squeeze(1)
    loss = -(weights * logp).mean() * 1000 / 2
    scaler.scale(loss).backward()
    if step % 2:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
