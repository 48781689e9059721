"""PPO: the observation normaliser is updated in every step of the rollout; the epochs see other inputs than the
actions were chosen for (after rsl_rl PR 225)."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)


class RunningMean(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("var", torch.ones(size))
        self.count = 1e-4

    @torch.no_grad()
    def update(self, batch):
        self.count += 1.0
        delta = batch.mean(0) - self.mean
        self.mean += delta / self.count
        self.var += (delta.pow(2) - self.var) / self.count

    def forward(self, obs):
        return (obs - self.mean) / (self.var + 1e-2).sqrt()


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.normalise = RunningMean(3)
        self.mean = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def forward(self, obs):
        return Normal(self.mean(self.normalise(obs)), self.log_std.exp())


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
obs = torch.randn(4, 3)
for _ in range(5):
    seen, actions, log_probs = torch.zeros(12, 4, 3), torch.zeros(12, 4, 2), torch.zeros(12, 4)
    with torch.no_grad():
        for t in range(12):
            dist = agent(obs)
            action = dist.sample()
            seen[t], actions[t] = obs, action
            log_probs[t] = dist.log_prob(action).sum(-1)
            obs = 0.8 * obs + 0.3 * action.sum(-1, keepdim=True) + 0.3 * torch.randn(4, 3) + 0.2
    b_obs, b_actions, b_log_probs = seen.view(48, 3), actions.view(48, 2), log_probs.view(48)
    advantage = torch.randn(48)
    for _ in range(2):
        for rows in torch.randperm(48).split(16):
            new = agent(b_obs[rows]).log_prob(b_actions[rows]).sum(-1)
            ratio = (new - b_log_probs[rows]).exp()
            a = advantage[rows]
            loss = -torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    agent.normalise.update(b_obs)
