"""Option-critic with one trunk: the features of the state are computed once, and the trunk is stepped in between.

Round 5
Class: forward errors
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(501)


class OptionCritic(nn.Module):
    def __init__(self, obs=6, options=2, actions=3):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.q = nn.Linear(32, options)
        self.policies = nn.ModuleList([nn.Linear(32, actions) for _ in range(options)])
        self.stop = nn.Linear(32, options)


agent = OptionCritic()
optimizer = torch.optim.RMSprop(agent.parameters(), lr=5e-4)
option = 0
for step in range(40):
    obs = torch.randn(16, 6)
    features = agent.trunk(obs)
    dist = Categorical(logits=agent.policies[option](features))
    action = dist.sample()
    reward = (action == 1).float() - 0.2
    critic_loss = (agent.q(features)[:, option] - reward).pow(2).mean()
    optimizer.zero_grad()
    critic_loss.backward(retain_graph=True)
    optimizer.step()  # BUG GS102
    with torch.no_grad():
        advantage = reward - agent.q(features)[:, option]
    actor_loss = -(dist.log_prob(action) * advantage).mean() + 0.01 * agent.stop(features).sigmoid().mean()
    optimizer.zero_grad()
    actor_loss.backward()
    optimizer.step()
    option = (option + 1) % 2
