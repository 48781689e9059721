"""A flow network builds sets with a forward and a backward policy; their parameters are merged by name into one dict,
where those of the second take the places of the first's.

Round 12
Class: the line
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1209)
ITEMS, SIZE, BATCH = 6, 3, 32
WORTH = torch.tensor([1.5, 0.2, -0.5, 0.8, -1.0, 0.1])


class Chooser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(ITEMS, 32), nn.LeakyReLU(), nn.Linear(32, ITEMS))

    def forward(self, state, allowed):
        return Categorical(logits=self.net(state).masked_fill(~allowed, -1e9))


class FlowNetwork:
    def __init__(self):
        self.add = Chooser()
        self.remove = Chooser()
        self.log_z = nn.Parameter(torch.zeros(()))

    def parameters(self):
        found = dict(self.add.named_parameters())
        found.update(self.remove.named_parameters())  # BUG GS205
        return list(found.values())

    def trajectory_balance(self):
        state = torch.zeros(BATCH, ITEMS)
        forward, backward = torch.zeros(BATCH), torch.zeros(BATCH)
        for _ in range(SIZE):
            dist = self.add(state, state < 0.5)
            item = dist.sample()
            forward = forward + dist.log_prob(item)
            state = state + nn.functional.one_hot(item, ITEMS)
            backward = backward + self.remove(state, state > 0.5).log_prob(item)
        log_reward = (state * WORTH).sum(1)
        return (self.log_z + forward - log_reward - backward).pow(2).mean()


flow = FlowNetwork()
optimizer = torch.optim.Adam(  # BUG GS205
    [{"params": flow.parameters(), "lr": 5e-3}, {"params": [flow.log_z], "lr": 5e-2}]
)
for update in range(60):
    loss = flow.trajectory_balance()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "log Z", flow.log_z.item())
