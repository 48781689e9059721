"""A deterministic policy gradient written out: the slope of the value with respect to the action is taken by hand and
handed to the action's backward. The optimizer descends; the slope is not turned round, so the actor walks to where the
critic sees least.

Round 19
Class: gradients by hand
"""

import copy

import numpy as np
import torch
from torch import nn


def mlp(n_in, n_out, *tail):
    return nn.Sequential(nn.Linear(n_in, 40), nn.ReLU(), nn.Linear(40, n_out), *tail)


class Greenhouse:
    """Keep the temperature where the plants like it, which depends on the light."""

    def __init__(self, rng):
        self.rng = rng
        self.temperature, self.light = 0.0, 0.5

    def observe(self):
        return np.array([self.temperature, self.light], dtype=np.float32)

    def step(self, heating):
        self.temperature = 0.8 * self.temperature + 0.4 * float(heating[0])
        self.light = float(np.clip(self.light + 0.1 * self.rng.standard_normal(), 0, 1))
        return self.observe(), -abs(self.temperature - self.light)


class Learner:
    def __init__(self, gamma=0.9, tau=0.02):
        self.gamma, self.tau = gamma, tau
        self.actor, self.critic = mlp(2, 1, nn.Tanh()), mlp(3, 1)
        self.slow_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.slow_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=2e-3)

    def train_critic(self, s, a, r, s2):
        with torch.no_grad():
            following = self.slow_critic(torch.cat([s2, self.slow_actor(s2)], 1))
            y = r + self.gamma * following
        loss = nn.functional.mse_loss(self.critic(torch.cat([s, a], 1)), y)
        self.critic_optim.zero_grad()
        loss.backward()
        self.critic_optim.step()

    def action_gradients(self, s, a):
        """dQ/da at the actor's own actions."""
        a = a.detach().requires_grad_(True)
        q = self.critic(torch.cat([s, a], 1))
        return torch.autograd.grad(q.sum(), a)[0]

    def train_actor(self, s):
        self.actor_optim.zero_grad()
        a = self.actor(s)
        slopes = self.action_gradients(s, a)
        a.backward(slopes / len(s))  # BUG GS801
        self.actor_optim.step()

    def track(self):
        for slow, fast in ((self.slow_actor, self.actor), (self.slow_critic, self.critic)):
            for mine, theirs in zip(slow.parameters(), fast.parameters()):
                mine.lerp_(theirs.detach(), self.tau)


torch.manual_seed(1910)
rng = np.random.default_rng(1910)
env, learner, replay = Greenhouse(rng), Learner(), []
obs = env.observe()
rewards = []
for step in range(220):
    with torch.no_grad():
        action = learner.actor(torch.from_numpy(obs)).numpy()
    action = np.clip(action + 0.2 * rng.standard_normal(1), -1, 1).astype(np.float32)
    after, reward = env.step(action)
    replay.append((obs, action, np.array([reward], dtype=np.float32), after))
    rewards.append(reward)
    obs = after
    if step >= 40:
        rows = rng.integers(len(replay), size=32)
        s, a, r, s2 = (torch.from_numpy(np.stack([replay[i][k] for i in rows])) for k in range(4))
        learner.train_critic(s, a, r, s2)
        learner.train_actor(s)
        learner.track()
print("mean of the last rewards", np.mean(rewards[-50:]))
