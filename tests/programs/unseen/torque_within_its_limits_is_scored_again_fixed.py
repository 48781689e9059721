"""Clipped policy optimisation swings up a pendulum with a Gaussian torque. The torque is cut to the motor's
limits on its way into the environment only; the drawn one is remembered.

Round 33
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

GAMMA, LAMBDA, CLIP, EPOCHS, HORIZON = 0.95, 0.9, 0.2, 4, 200


class ActorCritic(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 1))
        self.critic = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 1))
        self.log_std = nn.Parameter(torch.zeros(1))
        self.limit = limit

    def dist(self, obs):
        return Normal(self.limit * torch.tanh(self.actor(obs)), self.log_std.exp())

    def value(self, obs):
        return self.critic(obs).squeeze(-1)

    @torch.no_grad()
    def act(self, obs):
        dist = self.dist(obs)
        action = dist.sample()
        log_prob = dist.log_prob(action).sum(-1)
        return action, log_prob, self.value(obs)


def collect(env, model, obs):
    rows = []
    for _ in range(HORIZON):
        state = torch.from_numpy(obs)
        action, log_prob, value = model.act(state)
        after, reward, terminated, truncated, _ = env.step(action.clamp(-model.limit, model.limit).numpy())
        with torch.no_grad():
            next_value = model.value(torch.from_numpy(after)) * (not terminated)
        ended = float(terminated or truncated)
        rows.append((state, action, log_prob, value, reward / 10, next_value, ended))
        obs = env.reset()[0] if ended else after
    return rows, obs


def advantages_of(rows):
    running, found = 0.0, []
    for _, _, _, value, reward, next_value, ended in reversed(rows):
        running = reward + GAMMA * next_value - value + GAMMA * LAMBDA * (1 - ended) * running
        found.append(running)
    return torch.stack(found[::-1]).float()


def improve(model, optimizer, rows):
    obs, action, old_log_prob, old_value = (torch.stack([row[i] for row in rows]) for i in range(4))
    advantage = advantages_of(rows)
    returns = advantage + old_value
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(EPOCHS):
        dist = model.dist(obs)
        ratio = (dist.log_prob(action).sum(-1) - old_log_prob).exp()
        surrogate = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
        value_loss = (model.value(obs) - returns).pow(2).mean()
        loss = -surrogate.mean() + 0.5 * value_loss - 0.001 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    return loss.item()


torch.manual_seed(19)
env = gym.make("Pendulum-v1")
model = ActorCritic(float(env.action_space.high[0]))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
obs, _ = env.reset(seed=19)
for iteration in range(10):
    rows, obs = collect(env, model, obs)
    loss = improve(model, optimizer, rows)
    print(f"{iteration + 1}: loss {loss:.4f}, reward {np.mean([row[4] for row in rows]):.3f}")
env.close()
