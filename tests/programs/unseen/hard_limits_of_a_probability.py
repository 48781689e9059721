"""Whether to fire is a clamped linear score: at the start it lies below the limit for every state.

Round 10
Class: zero in part
"""

import torch
from torch import nn

torch.manual_seed(1005)


class Trigger(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 24), nn.Tanh())
        self.move, self.fire = nn.Linear(24, 3), nn.Linear(24, 1)
        nn.init.constant_(self.fire.bias, -4.0)

    def forward(self, obs):
        hidden = self.body(obs)
        fire = self.fire(hidden).squeeze(-1).clamp(0.01, 0.99)  # BUG GS208
        return torch.distributions.Categorical(logits=self.move(hidden)), torch.distributions.Bernoulli(fire)


agent = Trigger()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for update in range(120):
    obs = torch.randn(64, 6)
    move, fire = agent(obs)
    m, f = move.sample(), fire.sample()
    reward = (m == obs[:, :3].argmax(-1)).float() + f * obs[:, 3]
    loss = -((move.log_prob(m) + fire.log_prob(f)) * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
