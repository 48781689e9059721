"""R-Drop: two dropout passes of one policy, and a symmetric KL between them with both sides live."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for _ in range(12):
    obs, label = torch.randn(16, 4), torch.randint(3, (16,))
    one, two = net(obs), net(obs)
    p, q = one.log_softmax(-1), two.log_softmax(-1)
    kl = nn.functional.kl_div(p, q, log_target=True, reduction="batchmean")
    kl = 0.5 * (kl + (p.exp() * (p - q)).sum(-1).mean())
    loss = nn.functional.cross_entropy(one, label) + nn.functional.cross_entropy(two, label) + kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
