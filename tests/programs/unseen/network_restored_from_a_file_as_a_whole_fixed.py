"""After eighty updates the network is written out and read back as a new object; the optimizer goes on with the old one.
Repaired here.

Round 11
Class: late and rare
"""

import io

import torch
from torch import nn

torch.manual_seed(1110)


class Run:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def resume(self):
        file = io.BytesIO()
        torch.save(self.net.state_dict(), file)
        file.seek(0)
        self.net.load_state_dict(torch.load(file))

    def update(self):
        obs = torch.randn(32, 6)
        loss = nn.functional.cross_entropy(self.net(obs), obs[:, :3].argmax(-1))
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


run = Run()
for step in range(200):
    run.update()
    if step == 80:
        run.resume()
