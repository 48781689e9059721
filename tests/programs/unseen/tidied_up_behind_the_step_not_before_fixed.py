"""Deterministic policy gradient for a cart that has to stop over a mark. Each optimizer clears its
gradients right before its own backward, so what the actor's backward leaves in the critic is gone before
the critic steps.

Round 33
Class: the line
"""

import copy

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(7)
torch.manual_seed(7)

GAMMA, TAU, BATCH, LIMIT = 0.97, 0.01, 64, 50


def reset():
    return np.array([rng.uniform(-1, 1), 0.0], dtype=np.float32)


def step(state, force):
    position, speed = state
    speed = 0.9 * speed + 0.1 * float(np.clip(force, -1, 1))
    position = position + speed
    reward = -abs(position) - 0.1 * abs(speed)
    fell = bool(abs(position) > 2.0)
    return np.array([position, speed], dtype=np.float32), reward - 5.0 * fell, fell


class Replay:
    def __init__(self, size=5000):
        self.rows = np.zeros((size, 7), dtype=np.float32)
        self.size, self.count = size, 0

    def add(self, s, a, r, s2, over):
        self.rows[self.count % self.size] = np.concatenate([s, [a, r], s2, [over]])
        self.count += 1

    def sample(self, n):
        rows = torch.from_numpy(self.rows[rng.integers(0, min(self.count, self.size), n)])
        return rows[:, :2], rows[:, 2:3], rows[:, 3:4], rows[:, 4:6], rows[:, 6:7]


actor = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
replay = Replay()


def update():
    s, a, r, s2, over = replay.sample(BATCH)
    with torch.no_grad():
        q_next = critic_target(torch.cat([s2, actor_target(s2)], 1))
        target = r + GAMMA * (1 - over) * q_next

    critic_loss = nn.functional.mse_loss(critic(torch.cat([s, a], 1)), target)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    actor_loss = -critic(torch.cat([s, actor(s)], 1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()

    with torch.no_grad():
        for net, slow in ((actor, actor_target), (critic, critic_target)):
            for p, q in zip(net.parameters(), slow.parameters()):
                q.lerp_(p, TAU)
    return critic_loss.item(), actor_loss.item()


state, clock = reset(), 0
for t in range(400):
    with torch.no_grad():
        force = actor(torch.from_numpy(state)).item() + 0.2 * rng.standard_normal()
    force = float(np.clip(force, -1, 1))
    after, reward, fell = step(state, force)
    replay.add(state, force, reward, after, fell)
    state, clock = after, clock + 1
    if fell or clock == LIMIT:
        state, clock = reset(), 0
    if t >= 100:
        losses = update()
        if t % 100 == 99:
            print(f"{t + 1}: critic {losses[0]:.4f} actor {losses[1]:.4f}")
