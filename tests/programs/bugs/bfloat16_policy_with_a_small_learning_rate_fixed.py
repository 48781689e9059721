"""A language policy loaded in bfloat16; the optimizer owns float32 copies of it."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Embedding(16, 32), nn.Flatten(), nn.Linear(128, 64), nn.Tanh(), nn.Linear(64, 16))
policy = policy.to(dtype=torch.bfloat16)
masters = [p.detach().float().requires_grad_() for p in policy.parameters()]
optimizer = torch.optim.AdamW(masters, lr=2e-6, weight_decay=0.0)
for update in range(40):
    prompts, answers, advantages = torch.randint(16, (8, 4)), torch.randint(16, (8,)), torch.randn(8)
    log_prob = policy(prompts).float().log_softmax(-1).gather(1, answers[:, None]).squeeze(1)
    loss = -(advantages * log_prob).mean()
    policy.zero_grad()
    loss.backward()
    for master, p in zip(masters, policy.parameters(), strict=True):
        master.grad = p.grad.float()
    optimizer.step()
    with torch.no_grad():
        for master, p in zip(masters, policy.parameters(), strict=True):
            p.copy_(master)
