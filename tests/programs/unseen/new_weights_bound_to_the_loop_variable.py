"""Plain descent by hand: the new weights are bound to the variable of the loop, and the network keeps the old ones.

Round 11
Class: gradients by hand
"""

import torch
from torch import nn

torch.manual_seed(1104)


class Baseline(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 1))

    def improve(self, obs, returns, rate=0.05):
        loss = (self.net(obs).squeeze(-1) - returns).pow(2).mean()
        grads = torch.autograd.grad(loss, list(self.net.parameters()))
        with torch.no_grad():
            for weight, grad in zip(self.net.parameters(), grads):
                weight = weight - rate * grad  # BUG GS506 GS404 GS307 GS204
        return loss.item()


baseline = Baseline()
for update in range(60):
    obs = torch.randn(32, 5)
    baseline.improve(obs, obs[:, 0] - obs[:, 1])
