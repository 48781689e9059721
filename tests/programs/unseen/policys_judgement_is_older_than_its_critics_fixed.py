"""Soft actor-critic moves a point with two thrusters to the middle of a square. The policy's loss is made
from the critics as they are after their step, and goes backward right away.

Round 33
Class: the line
"""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
rng = np.random.default_rng(2)
OBS, ACT, GAMMA, ALPHA, TAU = 4, 2, 0.95, 0.05, 0.02


def mlp(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, outputs)
    )


class SquashedGaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(OBS, 2 * ACT)

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, -1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5, 1).exp())
        raw = normal.rsample()
        correction = 2 * (math.log(2) - raw - F.softplus(-2 * raw))
        return raw.tanh(), (normal.log_prob(raw) - correction).sum(-1)


class TwinCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = mlp(OBS + ACT, 1), mlp(OBS + ACT, 1)

    def forward(self, obs, action):
        x = torch.cat([obs, action], -1)
        return self.first(x).squeeze(-1), self.second(x).squeeze(-1)


class Thrusters:
    """Sixty ticks, cut off by the clock and not by the task."""

    def reset(self):
        self.position, self.speed, self.clock = rng.uniform(-1, 1, 2), np.zeros(2), 0
        return self.observe()

    def observe(self):
        return np.concatenate([self.position, self.speed]).astype(np.float32)

    def step(self, action):
        self.speed = 0.8 * self.speed + 0.1 * action
        self.position = np.clip(self.position + self.speed, -2, 2)
        self.clock += 1
        return self.observe(), -float(np.linalg.norm(self.position)), self.clock == 60


policy, critic, slow_critic = SquashedGaussian(), TwinCritic(), TwinCritic()
slow_critic.load_state_dict(critic.state_dict())
slow_critic.requires_grad_(False)
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
memory = []


def train_step(batch_size=64):
    rows = [memory[i] for i in rng.integers(0, len(memory), batch_size)]
    obs, action, reward, after = (torch.as_tensor(np.stack(column)) for column in zip(*rows))

    with torch.no_grad():
        next_action, next_log_prob = policy(after)
        next_value = torch.min(*slow_critic(after, next_action)) - ALPHA * next_log_prob
        target = reward + GAMMA * next_value
    q1, q2 = critic(obs, action)
    critic_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)

    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    new_action, log_prob = policy(obs)
    policy_loss = (ALPHA * log_prob - torch.min(*critic(obs, new_action))).mean()
    policy_optimizer.zero_grad()
    policy_loss.backward()
    policy_optimizer.step()

    with torch.no_grad():
        for slow, fast in zip(slow_critic.parameters(), critic.parameters()):
            slow.mul_(1 - TAU).add_(TAU * fast)
    return critic_loss.item(), policy_loss.item()


world = Thrusters()
obs = world.reset()
for t in range(360):
    with torch.no_grad():
        action = policy(torch.from_numpy(obs))[0].numpy()
    after, reward, over = world.step(action)
    memory.append((obs, action, np.float32(reward), after))
    obs = world.reset() if over else after
    if t >= 120 and t % 2 == 0:
        losses = train_step()
print(f"critic loss {losses[0]:.4f}, policy loss {losses[1]:.4f}")
