# finds: GS205
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(3)) for _ in range(2)])
        self.heads = nn.ModuleDict({"value": nn.Linear(3, 1), "reward": nn.Linear(3, 1)})
        #! self.heads = [nn.Linear(3, 1), nn.Linear(3, 1)]  # BUG

    def forward(self, x):
        for scale in self.scales:
            x = x * scale
        heads = self.heads.values() if isinstance(self.heads, nn.ModuleDict) else self.heads
        return sum(head(x) for head in heads).squeeze(1)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(30):
    x = torch.randn(8, 3)
    loss = (net(x) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
