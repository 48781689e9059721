"""A loop over agents clears and differentiates each agent's loss, and steps the first agent's optimizer.
Repaired here.

Round 7
Class: the line
"""

import torch
from torch import nn

torch.manual_seed(714)

agents = [nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1)) for _ in range(3)]
optimizers = [torch.optim.Adam(agent.parameters(), lr=1e-3) for agent in agents]
for update in range(50):
    obs = torch.randn(3, 32, 3)
    for i, agent in enumerate(agents):
        loss = (agent(obs[i]).squeeze(-1) - obs[i].sum(-1)).pow(2).mean()
        optimizers[i].zero_grad()
        loss.backward()
        optimizers[i].step()
