# finds: GS402
import torch
from torch import nn

net, head = nn.LSTM(3, 8, num_layers=2, dropout=0.1), nn.Linear(8, 1)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=1e-2)
state = None
for _ in range(30):
    x = torch.randn(5, 4, 3)
    out, state = net(x, state)  # BUG
    loss = (head(out).squeeze(2) - x.sum(2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    state = tuple(s.detach() for s in state)
    #!
