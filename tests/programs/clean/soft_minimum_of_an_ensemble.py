"""A soft minimum over an ensemble: the largest value is taken off before the exponential, and added again."""

import torch

qs = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
ts = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
ts.load_state_dict(qs.state_dict())
opt = torch.optim.Adam(qs.parameters(), 1e-3)
for t in range(40):
    x, x2, r = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16)
    end = (torch.rand(16) < 0.1).float()
    with torch.no_grad():
        v = torch.stack([q(x2).squeeze(-1) for q in ts])
        m = (-v).max()
        soft = -(((-v - m).exp().mean(0)).log() + m)
        c = torch.cat([q(x2) for q in ts], 1)
        top = c.max()
        soft2 = (c - top).exp().mean(1).log() + top
        y = r + 0.99 * (1 - end) * torch.minimum(soft, soft2)
    loss = sum((q(x).squeeze(-1) - y).pow(2).mean() for q in qs)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, tp in zip(qs.parameters(), ts.parameters()):
            tp.lerp_(p, 0.05)
