"""Proximal policy optimisation for a planar arm whose policy has layer norm and reads the same in both modes.

Round 29
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Normal

JOINTS, ENVS, STEPS, EPOCHS = 2, 12, 16, 3


class Arm:
    """Two joints reach for a point; goes on for ever, the point moves now and then."""

    def __init__(self):
        self.angles, self.goal = torch.zeros(ENVS, JOINTS), torch.randn(ENVS, 2)

    def tip(self):
        first, both = self.angles[:, 0], self.angles.sum(1)
        return torch.stack([first.cos() + both.cos(), first.sin() + both.sin()], 1)

    def observe(self):
        return torch.cat([self.angles.sin(), self.angles.cos(), self.goal, 3 * (self.goal - self.tip())], 1)

    def step(self, velocity):
        self.angles = self.angles + 0.1 * velocity.clamp(-2, 2)
        reward = -(self.goal - self.tip()).norm(dim=1)
        moved = torch.rand(ENVS, 1) < 0.05
        self.goal = torch.where(moved, torch.randn(ENVS, 2), self.goal)
        return reward


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(8, 48),
            nn.LayerNorm(48),
            nn.ReLU(),
            nn.Linear(48, JOINTS),
        )
        self.log_std = nn.Parameter(torch.full((JOINTS,), -0.5))

    def forward(self, obs):
        return Normal(self.net(obs), self.log_std.exp())


torch.manual_seed(2916)
arm, policy = Arm(), Policy()
critic = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 1))
optim = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)

for iteration in range(12):
    policy.eval()
    observations, actions, log_probs, rewards = [], [], [], []
    with torch.no_grad():
        for _ in range(STEPS):
            obs = arm.observe()
            dist = policy(obs)
            action = dist.sample()
            observations.append(obs)
            actions.append(action)
            log_probs.append(dist.log_prob(action).sum(-1))
            rewards.append(arm.step(action))
        values = critic(torch.stack([*observations, arm.observe()])).squeeze(-1)
        advantage, running = torch.zeros(STEPS, ENVS), torch.zeros(ENVS)
        for t in reversed(range(STEPS)):
            running = rewards[t] + 0.95 * values[t + 1] - values[t] + 0.95 * 0.9 * running
            advantage[t] = running
        target = (advantage + values[:-1]).flatten()
        advantage = ((advantage - advantage.mean()) / advantage.std()).flatten()
    obs, action, old = torch.cat(observations), torch.cat(actions), torch.cat(log_probs)

    policy.train()
    for _ in range(EPOCHS):
        for pick in torch.randperm(len(obs)).split(64):
            new = policy(obs[pick]).log_prob(action[pick]).sum(-1)
            ratio = (new - old[pick]).exp()
            gain = torch.min(ratio * advantage[pick], ratio.clamp(0.8, 1.2) * advantage[pick])
            error = (critic(obs[pick]).squeeze(-1) - target[pick]).pow(2)
            loss = 0.5 * error.mean() - gain.mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
