"""Mixed precision with accumulation: unscaled, clipped, stepped."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Embedding(12, 16), nn.Flatten(), nn.Linear(64, 12))
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2048.0)
for update in range(12):
    optimizer.zero_grad(set_to_none=True)
    for _ in range(2):
        prompts, answers, advantages = torch.randint(12, (8, 4)), torch.randint(12, (8,)), torch.randn(8)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = policy(prompts)
        log_prob = logits.float().log_softmax(-1).gather(1, answers[:, None]).squeeze(1)
        loss = -(advantages * log_prob).mean() / 2
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(policy.parameters(), max_norm=0.5)
    scaler.step(optimizer)
    scaler.update()
print("norm", norm.item())
