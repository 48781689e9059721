"""The encoder is frozen for a warm-up and thawed later; the optimizer was made of what could learn at first.

Round 6
Class: late and rare
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(610)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.actor, self.critic = nn.Linear(32, 3), nn.Linear(32, 1)

    def forward(self, obs):
        features = self.encoder(obs)
        return Categorical(logits=self.actor(features)), self.critic(features).squeeze(-1)


agent = Agent()
agent.encoder.requires_grad_(False)
optimizer = torch.optim.Adam([p for p in agent.parameters() if p.requires_grad], lr=1e-3)  # BUG GS205
for update in range(100):
    if update == 40:
        agent.encoder.requires_grad_(True)  # BUG GS205
    obs = torch.randn(32, 8)
    dist, value = agent(obs)
    action = dist.sample()
    reward = (action == obs[:, :3].argmax(-1)).float()
    loss = -(dist.log_prob(action) * (reward - value).detach()).mean() + (value - reward).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
