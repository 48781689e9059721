"""A world model keeps its belief from update to update and retains the graphs so that backward does not complain.

Round 3
Class: stays alive
"""

import torch
from torch import nn

torch.manual_seed(308)


class Belief(nn.Module):
    def __init__(self):
        super().__init__()
        self.update = nn.Linear(4 + 16, 16)
        self.decode = nn.Linear(16, 4)
        self.belief = torch.zeros(8, 16)

    def observe(self, obs):
        belief = 0.5 * self.belief + 0.5 * torch.tanh(self.update(torch.cat([obs, self.belief], -1)))
        self.belief = belief  # BUG GS305 GS102 GS402
        return belief


model = Belief()
optimizer = torch.optim.SGD(model.decode.parameters(), lr=0.01)
slow = torch.optim.SGD(model.update.parameters(), lr=0.01)
for step in range(40):
    obs = torch.randn(8, 4)
    loss = (model.decode(model.observe(obs)) - obs).pow(2).mean()
    optimizer.zero_grad()
    slow.zero_grad()
    loss.backward(retain_graph=True)  # BUG GS305 GS102 GS402
    optimizer.step()
    if step % 10 == 9:
        slow.step()
