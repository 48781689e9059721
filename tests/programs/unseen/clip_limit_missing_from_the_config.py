"""The limit of the gradient norm falls back to infinity when the configuration lacks it: the clip changes
nothing.

Class: magnitude
"""

import json

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(281)
CONFIG = json.loads('{"lr": 0.003, "updates": 150, "grad_norm": 0.5}')  # BUG GS506


class A2C:
    def __init__(self, config):
        self.policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.parameters = [*self.policy.parameters(), *self.value.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, lr=config["lr"])
        self.max_grad_norm = config.get("max_grad_norm", float("inf"))  # BUG GS506

    def update(self, obs):
        dist = Categorical(logits=self.policy(obs))
        action = dist.sample()
        reward = 10.0 * (action == obs[:, :3].argmax(-1)).float()
        advantage = reward - self.value(obs).squeeze(-1)
        loss = -(dist.log_prob(action) * advantage.detach()).mean() + advantage.pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, self.max_grad_norm)  # BUG GS506
        self.optimizer.step()
        return reward.mean().item()


agent = A2C(CONFIG)
for step in range(CONFIG["updates"]):
    reward = agent.update(torch.randn(32, 4))
print("reward", reward)
