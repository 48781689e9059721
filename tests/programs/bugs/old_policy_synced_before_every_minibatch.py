"""PPO in a class with a network for the old policy, which is brought up to date in the wrong loop."""

import copy

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
        self.log_std = nn.Parameter(torch.zeros(2))

    def log_prob(self, obs, action):
        return Normal(self.mean(obs), self.log_std.exp()).log_prob(action).sum(-1)

    @torch.no_grad()
    def act(self, obs):
        return Normal(self.mean(obs), self.log_std.exp()).sample()


class PPO:
    def __init__(self):
        self.policy = Policy()
        self.policy_old = copy.deepcopy(self.policy)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)

    def update(self, obs, action, advantage, epochs=3):
        for _ in range(epochs):
            for rows in torch.randperm(len(obs)).split(16):
                self.policy_old.load_state_dict(self.policy.state_dict())  # BUG GS804
                with torch.no_grad():
                    old = self.policy_old.log_prob(obs[rows], action[rows])
                ratio = (self.policy.log_prob(obs[rows], action[rows]) - old).exp()
                a = advantage[rows]
                loss = -torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()


agent = PPO()
for _ in range(5):
    obs = torch.randn(48, 3)
    agent.update(obs, agent.policy.act(obs), torch.randn(48))
