"""The agent keeps the features that it acted on, made under inference mode, and trains its critic head on them.

Round 8
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(802)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 24), nn.Tanh())
        self.pi, self.v = nn.Linear(24, 4), nn.Linear(24, 1)

    @torch.inference_mode()  # BUG GS202 GS201
    def act(self, obs):
        self.features = self.body(obs)  # BUG GS202 GS201
        return torch.distributions.Categorical(logits=self.pi(self.features)).sample()

    def value(self):
        return self.v(self.features).squeeze(-1)  # BUG GS202 GS201


agent = Agent()
optimizer = torch.optim.RMSprop(agent.parameters(), lr=1e-3)
for update in range(30):
    obs = torch.randn(16, 5)
    action = agent.act(obs).clone()
    reward = (obs[:, 0] > 0).float() * (action == 1).float()
    value = agent.value()
    logp = torch.distributions.Categorical(logits=agent.pi(agent.body(obs))).log_prob(action)
    loss = -(logp * (reward - value.detach())).mean() + (reward - value).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
