"""A running normaliser that moves only after the epochs, actions clipped for the environment alone, and dropout
that is off: before the first step the ratio is one."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)


class Normaliser(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("count", torch.tensor(1.0))

    def update(self, batch):
        self.count += len(batch)
        self.mean += (batch.mean(0) - self.mean) * len(batch) / self.count

    def forward(self, obs):
        return obs - self.mean


normaliser = Normaliser()
actor = nn.Sequential(nn.Linear(3, 32), nn.Dropout(0.2), nn.Tanh(), nn.Linear(32, 2)).eval()
log_std = nn.Parameter(torch.zeros(2))
optimizer = torch.optim.Adam([*actor.parameters(), log_std], lr=1e-2)


def policy(obs):
    return Normal(actor(normaliser(obs)), log_std.exp())


for _ in range(5):
    observations, actions, old = torch.zeros(24, 3), torch.zeros(24, 2), torch.zeros(24)
    with torch.no_grad():
        obs = torch.randn(3)
        for t in range(24):
            dist = policy(obs)
            action = dist.sample()
            observations[t], actions[t], old[t] = obs, action, dist.log_prob(action).sum()
            obs = 0.5 * obs + action.clamp(-1, 1).sum() + torch.randn(3)
    advantage = torch.randn(24)
    for _ in range(3):
        for rows in torch.randperm(24).split(8):
            new = policy(observations[rows]).log_prob(actions[rows]).sum(-1)
            ratio = (new - old[rows]).exp()
            a = advantage[rows]
            loss = -torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    normaliser.update(observations)
