"""The policy's head reads detached features, yet its optimizer is given the trunk as well as its head.

Round 12
Class: the line
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1215)
ENVS, STEPS = 16, 5


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.policy_head = nn.Linear(32, 4)
        self.value_head = nn.Linear(32, 1)

    @property
    def policy_parameters(self):
        return [*self.trunk.parameters(), *self.policy_head.parameters()]  # BUG GS308

    @property
    def value_parameters(self):
        return [*self.trunk.parameters(), *self.value_head.parameters()]

    def forward(self, obs):
        features = self.trunk(obs)
        return Categorical(logits=self.policy_head(features.detach())), self.value_head(features).squeeze(-1)


class Field:
    """Points that are pushed into one of four directions; the centre is where they should be."""

    moves = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])

    def __init__(self):
        self.place = torch.randn(ENVS, 2)

    def look(self):
        return torch.cat([self.place, self.place**2, self.place.abs()], -1)

    def step(self, action):
        self.place = (self.place + 0.3 * self.moves[action] + 0.05 * torch.randn(ENVS, 2)).clamp(-3, 3)
        return -self.place.norm(dim=-1)


agent, world = Agent(), Field()
policy_opt = torch.optim.Adam(agent.policy_parameters, lr=2e-3)  # BUG GS308
value_opt = torch.optim.Adam(agent.value_parameters, lr=2e-3)  # BUG GS308
for update in range(60):
    logps, values, rewards, entropies = [], [], [], []
    for _ in range(STEPS):
        dist, value = agent(world.look())
        action = dist.sample()
        rewards.append(world.step(action))
        logps.append(dist.log_prob(action))
        values.append(value)
        entropies.append(dist.entropy())
    with torch.no_grad():
        ahead, returns = agent(world.look())[1], []
        for reward in reversed(rewards):
            ahead = reward + 0.95 * ahead
            returns.insert(0, ahead)
    value, goal = torch.stack(values), torch.stack(returns)
    gain = goal - value.detach()
    policy_loss = -(torch.stack(logps) * gain).mean() - 0.01 * torch.stack(entropies).mean()
    value_loss = (value - goal).pow(2).mean()
    policy_opt.zero_grad()
    value_opt.zero_grad()
    (policy_loss + value_loss).backward()
    policy_opt.step()
    value_opt.step()
