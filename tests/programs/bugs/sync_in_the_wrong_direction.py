"""The online network is overwritten with the target."""

import torch
from torch import nn

torch.manual_seed(0)


class Networks:
    def __init__(self):
        self.online, self.target = nn.Linear(4, 3), nn.Linear(4, 3)
        self.target.load_state_dict(self.online.state_dict())

    def sync(self, source, destination):
        with torch.no_grad():
            for a, b in zip(source.parameters(), destination.parameters()):
                b.copy_(a)  # BUG GS809


nets = Networks()
optimizer = torch.optim.SGD(nets.online.parameters(), lr=1e-2)
for step in range(1, 31):
    obs, action, reward = torch.randn(16, 4), torch.randint(3, (16, 1)), torch.randn(16, 1)
    with torch.no_grad():
        wanted = reward + 0.9 * nets.target(torch.randn(16, 4)).amax(1, keepdim=True)
    loss = (nets.online(obs).gather(1, action) - wanted).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        nets.sync(nets.target, nets.online)  # BUG GS809
