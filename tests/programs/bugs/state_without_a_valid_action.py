"""Invalid actions are masked; now and then a state has none that is valid."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(4, 3)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(12):
    obs, valid = torch.randn(10, 4), torch.rand(10, 3) > 0.3
    valid[:, 0] = True
    if update == 5:
        valid[3] = False
    logits = policy(obs).masked_fill(~valid, float("-inf"))
    log_prob = logits.log_softmax(1)  # BUG GS503
    action = valid.float().argmax(1, keepdim=True)
    loss = -(log_prob.gather(1, action).squeeze(1) * torch.randn(10)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
