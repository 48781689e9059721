"""`net.compile()` in place, and a graph break in the middle of it."""

# fresh
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.calls = nn.Linear(8, 32), nn.Linear(32, 1), []

    def forward(self, x):
        h = torch.tanh(self.a(x))
        torch._dynamo.graph_break()
        return self.b(h).squeeze(1)


torch.manual_seed(0)
net = Net()
net.compile(backend="aot_eager")
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(25):
    x = torch.randn(16, 8)
    loss = (net(x) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
