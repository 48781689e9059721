"""PPO in minibatches: advantages come out of the critic as a column, the ratio is flat.

Round 10
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1008)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.zeros(2))

    def log_prob(self, obs, action):
        return Normal(self.actor(obs), self.log_std.exp()).log_prob(action).sum(-1)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
for update in range(15):
    obs = torch.randn(128, 5)
    with torch.no_grad():
        action = agent.actor(obs) + torch.randn(128, 2)
        old = agent.log_prob(obs, action)
        returns = -(action - obs[:, :2]).pow(2).sum(-1, keepdim=True)
        advantage = returns - agent.critic(obs)
    for rows in torch.randperm(128).split(32):
        ratio = (agent.log_prob(obs[rows], action[rows]) - old[rows]).exp()
        adv = advantage[rows]
        surrogate = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv)  # BUG GS601
        loss = -surrogate.mean() + 0.5 * (agent.critic(obs[rows]) - returns[rows]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
