"""PPO keeps the squashed action and finds the Gaussian sample again by inverting the squash between limits: where
the squash is nearly full, another sample is scored than the one that was drawn.
Repaired here.

Round 22
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Normal

N, OBS, ACT = 64, 4, 2
EDGE = 0.95


class SquashedGaussian:
    def __init__(self, mean, std):
        self.base = Normal(mean, std)

    def draw(self):
        raw = self.base.sample()
        return torch.tanh(raw), raw

    def log_prob(self, squashed, raw=None):
        if raw is None:
            raw = torch.atanh(squashed.clamp(-EDGE, EDGE))
        volume = torch.log1p(-squashed.pow(2) + 1e-4)
        return (self.base.log_prob(raw) - volume).sum(-1)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, ACT))
        self.critic = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.full((ACT,), 0.3))

    def policy(self, obs):
        return SquashedGaussian(self.actor(obs), self.log_std.exp())


def pays(obs, action):
    return 1.0 - (action - torch.tanh(obs[:, :ACT])).abs().mean(dim=1)


torch.manual_seed(2211)
agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for iteration in range(15):
    obs = torch.randn(N, OBS)
    with torch.no_grad():
        pi = agent.policy(obs)
        action, raw = pi.draw()
        old_log_prob = pi.log_prob(action, raw)
        reward = pays(obs, action)  # every episode is one step long
        advantage = reward - agent.critic(obs).squeeze(1)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    for _ in range(3):
        log_prob = agent.policy(obs).log_prob(action, raw)
        ratio = (log_prob - old_log_prob).exp()
        policy_loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        value_loss = (agent.critic(obs).squeeze(1) - reward).pow(2).mean()
        optimizer.zero_grad()
        (policy_loss + 0.5 * value_loss).backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
    if iteration % 5 == 0:
        print(iteration, round(reward.mean().item(), 3))
