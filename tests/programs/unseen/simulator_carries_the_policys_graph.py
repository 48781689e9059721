"""The environment is a differentiable simulator. The agent acts with gradients on, and the state of the simulator drags
the graph of every action since the start along; the replay buffer holds copies and shows nothing of it.

Round 14
Class: stays alive
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

ENVS, OBS, ACT = 8, 4, 2


class PointMasses:
    """Written in torch, so that one may differentiate through it."""

    def __init__(self, envs):
        self.pos, self.vel = torch.randn(envs, 2), torch.zeros(envs, 2)

    def observe(self):
        return torch.cat([self.pos, self.vel], dim=1)

    def step(self, force):
        self.vel = 0.9 * self.vel + 0.2 * force - 0.05 * self.pos
        self.pos = (self.pos + 0.2 * self.vel).clamp(-3, 3)
        return self.observe(), -self.pos.pow(2).sum(-1)


class Buffer:
    def __init__(self, size):
        self.obs, self.next_obs = torch.zeros(size, OBS), torch.zeros(size, OBS)
        self.action, self.reward = torch.zeros(size, ACT), torch.zeros(size)
        self.size, self.filled, self.head = size, 0, 0

    def add(self, **rows):
        where = (self.head + torch.arange(ENVS)) % self.size
        for name, value in rows.items():
            getattr(self, name)[where] = value.detach()
        self.head = (self.head + ENVS) % self.size
        self.filled = min(self.filled + ENVS, self.size)

    def sample(self, count):
        rows = torch.randint(self.filled, (count,))
        return self.obs[rows], self.action[rows], self.reward[rows], self.next_obs[rows]


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(OBS + ACT, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], dim=-1)).squeeze(-1)


class Agent:
    gamma, tau, noise = 0.95, 0.02, 0.2

    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(OBS, 32), nn.ReLU(), nn.Linear(32, ACT), nn.Tanh())
        self.critic = Critic()
        self.critic_target = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_target = copy.deepcopy(self.actor).requires_grad_(False)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.env, self.buffer = PointMasses(ENVS), Buffer(1000)
        self.obs = self.env.observe()

    def act(self, obs):
        action = self.actor(obs)
        return (action + self.noise * torch.randn_like(action)).clamp(-1, 1)

    def play_step(self):
        action = self.act(self.obs)  # BUG GS305
        next_obs, reward = self.env.step(action)  # BUG GS305
        self.buffer.add(obs=self.obs, action=action, reward=reward, next_obs=next_obs)
        self.obs = next_obs
        return reward.mean().item()

    def update(self, batch_size):
        obs, action, reward, next_obs = self.buffer.sample(batch_size)
        with torch.no_grad():
            goal = reward + self.gamma * self.critic_target(next_obs, self.actor_target(next_obs))
        critic_loss = F.mse_loss(self.critic(obs, action), goal)
        self.critic_optimizer.zero_grad(set_to_none=True)
        critic_loss.backward()
        self.critic_optimizer.step()
        self.critic.requires_grad_(False)
        actor_loss = -self.critic(obs, self.actor(obs)).mean()
        self.actor_optimizer.zero_grad(set_to_none=True)
        actor_loss.backward()
        self.actor_optimizer.step()
        self.critic.requires_grad_(True)
        for slow, fast in ((self.critic_target, self.critic), (self.actor_target, self.actor)):
            for mine, theirs in zip(slow.parameters(), fast.parameters(), strict=True):
                mine.lerp_(theirs.detach(), self.tau)
        return critic_loss.item()


torch.manual_seed(1417)
agent = Agent()
for step in range(120):
    reward = agent.play_step()
    if step >= 20:
        loss = agent.update(32)
    if step % 40 == 39:
        print(step, round(reward, 3), round(loss, 3))
