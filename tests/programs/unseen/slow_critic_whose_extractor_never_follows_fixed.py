"""The repaired twin of a program in which the following goes wrong.
Soft actor-critic over range readings with a convolutional extractor in each critic: the soft update takes
the layers on top only, and the target keeps the extractor that it was made with. After
hill-a/stable-baselines#854.

Round 36
Class: weights
"""

import copy
import math

import numpy as np
import torch as th
import torch.nn as nn
from torch.distributions import Normal

SEED, N_RAYS, ACTION_DIM = 3619, 16, 2


class Cave:
    """A round cave with a pillar; a robot measures ranges and shall keep moving without touching anything."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.pillar, self.pillar_radius, self.radius = np.array([0.5, 0.0]), 0.4, 2.0

    def reset(self):
        self.position, self.heading, self.t = np.array([-1.0, self.rng.uniform(-0.5, 0.5)]), 0.0, 0
        return self._ranges()

    def _ranges(self):
        ranges = []
        for ray in range(N_RAYS):
            angle = self.heading + 2 * math.pi * ray / N_RAYS
            direction = np.array([math.cos(angle), math.sin(angle)])
            b = self.position @ direction
            reach = -b + math.sqrt(max(b * b - self.position @ self.position + self.radius**2, 0.0))
            to_pillar = self.pillar - self.position
            along = to_pillar @ direction
            missed = to_pillar @ to_pillar - along**2
            if along > 0 and missed < self.pillar_radius**2:
                reach = min(reach, along - math.sqrt(self.pillar_radius**2 - missed))
            ranges.append(reach / 4.0)
        return np.array(ranges, dtype=np.float32)

    def step(self, action):
        self.t += 1
        self.heading += 0.4 * float(action[1])
        speed = 0.1 * (1.0 + float(action[0]))
        self.position = self.position + speed * np.array([math.cos(self.heading), math.sin(self.heading)])
        touched_pillar = np.linalg.norm(self.position - self.pillar) < self.pillar_radius + 0.1
        crash = bool(touched_pillar or np.linalg.norm(self.position) > self.radius - 0.1)
        return self._ranges(), -2.0 if crash else 5 * speed, crash, self.t >= 60


class RayExtractor(nn.Module):
    def __init__(self, features_dim=32):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv1d(1, 8, 3, stride=2), nn.ReLU(), nn.Conv1d(8, 8, 3), nn.ReLU(), nn.Flatten()
        )
        self.linear = nn.Sequential(nn.Linear(8 * 5, features_dim), nn.ReLU())

    def forward(self, obs):
        return self.linear(self.cnn(obs.unsqueeze(1)))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.features_extractor = RayExtractor()
        self.qf0 = nn.Sequential(nn.Linear(32 + ACTION_DIM, 64), nn.ReLU(), nn.Linear(64, 1))
        self.qf1 = nn.Sequential(nn.Linear(32 + ACTION_DIM, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, obs, actions):
        qvalue_input = th.cat([self.features_extractor(obs), actions], dim=1)
        return self.qf0(qvalue_input), self.qf1(qvalue_input)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.features_extractor = RayExtractor()
        self.mu, self.log_std = nn.Linear(32, ACTION_DIM), nn.Linear(32, ACTION_DIM)

    def action_log_prob(self, obs):
        features = self.features_extractor(obs)
        dist = Normal(self.mu(features), self.log_std(features).clamp(-5, 2).exp())
        gaussian = dist.rsample()
        actions = th.tanh(gaussian)
        log_prob = dist.log_prob(gaussian).sum(1) - th.log(1 - actions**2 + 1e-6).sum(1)
        return actions, log_prob.reshape(-1, 1)


def polyak_update(params, target_params, tau):
    with th.no_grad():
        for param, target_param in zip(params, target_params, strict=True):
            target_param.lerp_(param, tau)


class SAC:
    def __init__(self, gamma=0.97, tau=0.02, ent_coef=0.05):
        self.actor, self.critic = Actor(), Critic()
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_optimizer = th.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = th.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.gamma, self.tau, self.ent_coef = gamma, tau, ent_coef

    @th.no_grad()
    def predict(self, obs):
        return self.actor.action_log_prob(th.from_numpy(obs)[None])[0][0].numpy()

    def train(self, obs, actions, rewards, next_obs, dones):
        with th.no_grad():
            next_actions, next_log_prob = self.actor.action_log_prob(next_obs)
            next_q = th.min(*self.critic_target(next_obs, next_actions)) - self.ent_coef * next_log_prob
            target_q = rewards + (1 - dones) * self.gamma * next_q
        critic_loss = 0.5 * sum(nn.functional.mse_loss(q, target_q) for q in self.critic(obs, actions))
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actions_pi, log_prob = self.actor.action_log_prob(obs)
        actor_loss = (self.ent_coef * log_prob - th.min(*self.critic(obs, actions_pi))).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        online, target = self.critic, self.critic_target
        polyak_update(online.parameters(), target.parameters(), self.tau)
        return critic_loss.item(), actor_loss.item()


def learn(total_timesteps=240, learning_starts=100, batch_size=48):
    th.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    env, model, replay = Cave(SEED), SAC(), []
    obs = env.reset()
    for step in range(total_timesteps):
        action = model.predict(obs)
        next_obs, reward, crash, cut = env.step(action)
        replay.append((obs, action, np.float32([reward]), next_obs, np.float32([crash])))
        obs = env.reset() if crash or cut else next_obs
        if step >= learning_starts:
            rows = [replay[i] for i in rng.integers(len(replay), size=batch_size)]
            losses = model.train(*(th.from_numpy(np.stack(c)) for c in zip(*rows)))
    print("critic {:.3f}, actor {:.3f}".format(*losses))


learn()
