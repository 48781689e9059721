"""Deterministic policy gradients with a range of returns. What the critic says of the policy's actions is clipped to that
range before the policy climbs it. The costs of this plant soon lie outside: every answer is the range's lower end, which
does not depend on the action any more.
Repaired here.

Round 20
Class: zero in part
"""

import copy

import numpy as np
import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self, nb_actions, obs_dim, layer_norm=True):
        super().__init__()
        norm = nn.LayerNorm(64) if layer_norm else nn.Identity()
        self.net = nn.Sequential(
            nn.Linear(obs_dim, 64), norm, nn.ReLU(), nn.Linear(64, nb_actions), nn.Tanh()
        )

    def forward(self, obs):
        return self.net(obs)


class Critic(nn.Module):
    def __init__(self, nb_actions, obs_dim, layer_norm=True):
        super().__init__()
        self.inp = nn.Linear(obs_dim + nb_actions, 64)
        self.norm = nn.LayerNorm(64) if layer_norm else nn.Identity()
        self.out = nn.Linear(64, 1)

    def forward(self, obs, action):
        return self.out(torch.relu(self.norm(self.inp(torch.cat([obs, action], 1)))))


class OrnsteinUhlenbeckActionNoise:
    def __init__(self, size, rng, sigma=0.3, theta=0.2):
        self.size, self.rng, self.sigma, self.theta = size, rng, sigma, theta
        self.reset()

    def __call__(self):
        self.x += -self.theta * self.x + self.sigma * self.rng.normal(size=self.size)
        return self.x

    def reset(self):
        self.x = np.zeros(self.size)


class CoolingPlant:
    """Three basins, two pumps. Every degree above the set point costs."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.heat = self.rng.uniform(1, 3, 3)
        return self.heat.astype(np.float32)

    def step(self, pumps):
        cooling = np.array([pumps[0] + 1, pumps[0] - pumps[1] + 1, pumps[1] + 1]) * 0.4
        self.heat = np.clip(self.heat + 0.5 - cooling + 0.1 * self.rng.normal(size=3), -1, 5)
        return self.heat.astype(np.float32), -float(np.abs(self.heat).sum())


class DDPG:
    def __init__(self, actor, critic, gamma=0.9, tau=0.05):
        self.actor, self.critic = actor, critic
        self.target_actor, self.target_critic = copy.deepcopy(actor), copy.deepcopy(critic)
        self.gamma, self.tau = gamma, tau
        self.actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(critic.parameters(), lr=5e-3)
        self.memory = []

    def store_transition(self, *row):
        self.memory.append([np.asarray(x, dtype=np.float32) for x in row])

    def train(self, batch_size, rng):
        rows = [self.memory[i] for i in rng.integers(len(self.memory), size=batch_size)]
        obs0, actions, rewards, obs1 = (torch.from_numpy(np.stack(x)) for x in zip(*rows))
        with torch.no_grad():
            q_obs1 = self.target_critic(obs1, self.target_actor(obs1))
            target_q = rewards + self.gamma * q_obs1
        critic_loss = (self.critic(obs0, actions) - target_q).pow(2).mean()
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        critic_with_actor = self.critic(obs0, self.actor(obs0))
        actor_loss = -critic_with_actor.mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        return critic_loss.item()

    @torch.no_grad()
    def update_target_net(self):
        for net, target in ((self.actor, self.target_actor), (self.critic, self.target_critic)):
            for p, t in zip(net.parameters(), target.parameters()):
                t.copy_((1 - self.tau) * t + self.tau * p)


torch.manual_seed(2019)
rng = np.random.default_rng(2019)
env, noise = CoolingPlant(rng), OrnsteinUhlenbeckActionNoise(2, rng)
agent = DDPG(Actor(2, 3), Critic(2, 3))
costs = []
for cycle in range(24):
    obs = env.reset()
    noise.reset()
    for _ in range(20):
        with torch.no_grad():
            action = np.clip(agent.actor(torch.from_numpy(obs).unsqueeze(0)).numpy()[0] + noise(), -1, 1)
        new_obs, reward = env.step(action)
        agent.store_transition(obs, action, [reward], new_obs)
        costs.append(reward)
        obs = new_obs
    for _ in range(8):
        agent.train(48, rng)
        agent.update_target_net()
print("reward per step", np.mean(costs[:60]).round(3), "->", np.mean(costs[-60:]).round(3))
