"""A world model is unrolled for thirty steps with a transition of large weights: from the first update on the gradient
grows with every step back in time, and nothing clips it."""

import torch
from torch import nn

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.transition, self.reward = nn.Linear(4, 16), nn.Linear(18, 16), nn.Linear(16, 1)
        nn.init.orthogonal_(self.transition.weight, gain=1.6)

    def forward(self, obs, actions):
        state = self.encode(obs)
        for action in actions:
            state = torch.tanh(self.transition(torch.cat([state, action], -1)))
        return self.reward(state)


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-5)
for update in range(40):
    obs, actions, seen = torch.randn(8, 4), torch.randn(30, 8, 2), torch.randn(8, 1)
    loss = (model(obs, actions) - seen).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
