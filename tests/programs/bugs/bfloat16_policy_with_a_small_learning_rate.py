"""A language policy loaded in bfloat16 and given to the optimizer as it is: its updates are rounded away."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Embedding(16, 32), nn.Flatten(), nn.Linear(128, 64), nn.Tanh(), nn.Linear(64, 16))
policy = policy.to(dtype=torch.bfloat16)
optimizer = torch.optim.AdamW(policy.parameters(), lr=2e-6, weight_decay=0.0)  # BUG GS508
for update in range(40):
    prompts, answers, advantages = torch.randint(16, (8, 4)), torch.randint(16, (8,)), torch.randn(8)
    log_prob = policy(prompts).float().log_softmax(-1).gather(1, answers[:, None]).squeeze(1)
    loss = -(advantages * log_prob).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
