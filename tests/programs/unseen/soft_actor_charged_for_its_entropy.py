"""Soft actor-critic on the pendulum: the log-prob stands inside the bracket that is maximised with the sign of a
bonus, so the actor is paid for being sure, while its critic's target still pays for entropy. After AI4Finance-
Foundation/ElegantRL#476 and google-deepmind/open_spiel#962 (entropy with the wrong sign).

Round 26
Class: meaning
"""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

GAMMA, TAU, ALPHA, BATCH, WARMUP, STEPS = 0.98, 0.02, 0.2, 64, 150, 260


def mlp(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs)
    )


class Actor(nn.Module):
    def __init__(self, n_obs, n_act, scale):
        super().__init__()
        self.body, self.scale = mlp(n_obs, 2 * n_act), scale

    def sample(self, obs):
        mean, log_std = self.body(obs).chunk(2, dim=-1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
        raw = normal.rsample()
        squashed = torch.tanh(raw)
        correction = 2 * (np.log(2) - raw - F.softplus(-2 * raw)) + np.log(self.scale)
        return squashed * self.scale, (normal.log_prob(raw) - correction).sum(-1)


class Critic(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.q1, self.q2 = mlp(n_obs + n_act, 1), mlp(n_obs + n_act, 1)

    def forward(self, obs, act):
        x = torch.cat([obs, act], dim=-1)
        return self.q1(x).squeeze(-1), self.q2(x).squeeze(-1)


class ReplayBuffer:
    def __init__(self, size, n_obs, n_act):
        self.obs, self.next_obs = (np.zeros((size, n_obs), dtype=np.float32) for _ in range(2))
        self.act = np.zeros((size, n_act), dtype=np.float32)
        self.rew, self.end = (np.zeros(size, dtype=np.float32) for _ in range(2))
        self.count = 0

    def add(self, obs, act, rew, next_obs, end):
        i = self.count
        self.obs[i], self.act[i], self.rew[i], self.next_obs[i], self.end[i] = obs, act, rew, next_obs, end
        self.count += 1

    def sample(self, rng):
        rows = rng.integers(0, self.count, BATCH)
        columns = (self.obs, self.act, self.rew, self.next_obs, self.end)
        return [torch.from_numpy(column[rows]) for column in columns]


def update(actor, critic, target, actor_opt, critic_opt, batch):
    obs, act, rew, next_obs, end = batch
    with torch.no_grad():
        next_act, next_logp = actor.sample(next_obs)
        next_q = torch.min(*target(next_obs, next_act)) - ALPHA * next_logp
        backup = rew + GAMMA * (1 - end) * next_q
    q1, q2 = critic(obs, act)
    critic_opt.zero_grad()
    (F.mse_loss(q1, backup) + F.mse_loss(q2, backup)).backward()
    critic_opt.step()

    new_act, logp = actor.sample(obs)
    q = torch.min(*critic(obs, new_act))
    actor_loss = -(q + ALPHA * logp).mean()  # BUG GS802
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), critic.parameters()):
            slow.lerp_(fast, TAU)
    return -logp.mean().item()


torch.manual_seed(2622)
rng = np.random.default_rng(2622)
env = gym.make("Pendulum-v1")
n_obs, n_act = env.observation_space.shape[0], env.action_space.shape[0]
actor, critic = Actor(n_obs, n_act, float(env.action_space.high[0])), Critic(n_obs, n_act)
target = copy.deepcopy(critic).requires_grad_(False)
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-3)
buffer = ReplayBuffer(STEPS, n_obs, n_act)
obs, _ = env.reset(seed=2622)
for step in range(STEPS):
    with torch.no_grad():
        action = actor.sample(torch.from_numpy(obs))[0].numpy()
    next_obs, reward, terminated, truncated, _ = env.step(action)
    buffer.add(obs, action, reward, next_obs, terminated)
    obs = env.reset()[0] if terminated or truncated else next_obs
    if step >= WARMUP:
        entropy = update(actor, critic, target, actor_opt, critic_opt, buffer.sample(rng))
        if step % 20 == 0:
            print(step, round(entropy, 3))
