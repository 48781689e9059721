# finds: GS401
import torch
from torch import nn

with torch.device("meta"):
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    shape = net(torch.empty(5, 3)).shape
net = net.to_empty(device="cpu")
for layer in net:
    if hasattr(layer, "reset_parameters"):
        layer.reset_parameters()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
sketch = nn.Linear(3, 1, device="meta")
sketch_opt = torch.optim.SGD(sketch.parameters(), lr=0.1)
for _ in range(30):
    x = torch.randn(8, 3)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    #!
    loss.backward()
    opt.step()  # BUG
    sketch_opt.zero_grad()
    sketch(torch.empty(2, 3, device="meta")).pow(2).mean().backward()
    sketch_opt.step()
