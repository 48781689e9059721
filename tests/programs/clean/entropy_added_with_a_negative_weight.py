"""The entropy is added to the loss, and the weight in the settings is negative: only the derivative counts."""

import torch
from torch import nn
from torch.distributions import Categorical, Normal

torch.manual_seed(0)
SETTINGS = {"entropy_weight": -0.01, "value_weight": 0.5}


class Agent:
    def __init__(self, settings):
        self.settings = settings
        self.weight = torch.tensor(settings["entropy_weight"])
        self.body, self.pi, self.v = nn.Linear(4, 32), nn.Linear(32, 3), nn.Linear(32, 1)
        parameters = [*self.body.parameters(), *self.pi.parameters(), *self.v.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=1e-3)

    def update(self, obs, action, returns):
        hidden = torch.tanh(self.body(obs))
        dist, value = Categorical(logits=self.pi(hidden)), self.v(hidden).squeeze(-1)
        advantage = returns - value.detach()
        loss = -(dist.log_prob(action) * advantage).mean()
        loss = loss + self.settings["value_weight"] * (returns - value).pow(2).mean()
        loss = loss + self.weight * dist.entropy().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = Agent(SETTINGS)
for _ in range(14):
    agent.update(torch.randn(16, 4), torch.randint(3, (16,)), torch.randn(16))

# The same for a Gaussian, with the bonus in an objective that is maximised.
mean, log_std = nn.Linear(4, 2), nn.Parameter(torch.zeros(2))
optimizer = torch.optim.Adam([*mean.parameters(), log_std], lr=1e-3, maximize=True)
for _ in range(14):
    dist = Normal(mean(torch.randn(16, 4)), log_std.exp())
    log_prob = dist.log_prob(dist.sample()).sum(-1)
    objective = (log_prob * torch.randn(16)).mean() + 0.01 * dist.entropy().sum(-1).mean()
    optimizer.zero_grad()
    objective.backward()
    optimizer.step()
