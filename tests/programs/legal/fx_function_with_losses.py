"""fx traces a loss function, with torch functions and tensor methods on proxies."""

import torch
from torch import fx, nn


def loss_of(q, target, weight):
    error = torch.nn.functional.smooth_l1_loss(q, target.detach(), reduction="none")
    return (error * weight).mean() + 0.0 * torch.where(q > 0, q, -q).sum().clamp(min=0.0)


torch.manual_seed(0)
net = nn.Linear(4, 1)
traced = fx.symbolic_trace(loss_of)
print([node.op + " " + str(node.target) for node in traced.graph.nodes if node.op == "call_method"])
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(25):
    x = torch.randn(8, 4)
    loss = traced(net(x).squeeze(1), x.sum(1), torch.rand(8))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
