"""Recurrent A2C: the hidden state of finished environments is multiplied away in place."""

import torch
from torch import nn

torch.manual_seed(0)
ENVS, OBS, HID, STEPS = 4, 5, 8, 6


class RecurrentCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(OBS, HID)
        self.head = nn.Linear(HID, 1)

    def unroll(self, observations, dones):
        state = torch.zeros(ENVS, HID)
        values = []
        for obs, done in zip(observations, dones):
            state = self.cell(obs, state)
            values.append(self.head(state).squeeze(-1))
            state = state * (1.0 - done).unsqueeze(-1)
        return torch.stack(values)


critic = RecurrentCritic()
optimizer = torch.optim.Adam(critic.parameters(), lr=3e-4)
for iteration in range(10):
    observations = torch.randn(STEPS, ENVS, OBS)
    dones = (torch.rand(STEPS, ENVS) < 0.2).float()
    returns = torch.randn(STEPS, ENVS)
    loss = (critic.unroll(observations, dones) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(critic.parameters(), 0.5)
    optimizer.step()
