"""An agent with options keeps its option heads in a plain dict, so that nobody's parameters() names them.
Repaired here.

Class: the line
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(331)
OPTIONS = ("left", "right", "stay")


class OptionAgent(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
        self.heads = nn.ModuleDict({name: nn.Linear(32, 4) for name in OPTIONS})

    def forward(self, obs, option):
        return Categorical(logits=self.heads[option](self.trunk(obs)))


def right_action(obs, option):
    return (obs[:, :4].argmax(-1) + OPTIONS.index(option)) % 4


agent = OptionAgent()
optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3)
for step in range(100):
    obs = torch.randn(32, 5)
    loss = torch.zeros(())
    hits = 0.0
    for option in OPTIONS:
        dist = agent(obs, option)
        action = dist.sample()
        reward = (action == right_action(obs, option)).float()
        hits += reward.mean().item() / len(OPTIONS)
        loss = loss - (dist.log_prob(action) * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", hits)
