"""The encoder is frozen for a warm start of the heads and never thawed."""

import torch
from torch import nn

torch.manual_seed(0)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 16), nn.ELU())
        self.head = nn.Linear(16, 3)

    def forward(self, obs):
        return self.head(self.encoder(obs))


def set_trainable(module, flag):
    for parameter in module.parameters():
        parameter.requires_grad = flag


agent = Agent()
optimizer = torch.optim.AdamW(agent.parameters(), lr=1e-3)
set_trainable(agent.encoder, False)
for update in range(24):
    if update == 2:
        set_trainable(agent.encoder, True)
    obs, labels = torch.randn(16, 6), torch.randint(3, (16,))
    loss = nn.functional.cross_entropy(agent(obs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
