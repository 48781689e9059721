"""A compiled optimizer step."""

# fresh
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=torch.tensor(1e-2))


@torch.compile(fullgraph=False)
def step():
    opt.step()


for _ in range(30):
    x = torch.randn(32, 8)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    step()
print(float(loss))
