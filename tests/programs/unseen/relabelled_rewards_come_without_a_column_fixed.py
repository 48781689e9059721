"""A goal-conditioned DDPG agent with hindsight: half of the goals are replaced by places that were reached
later, and all rewards are worked out again. As a column they meet the column of next values.

Round 34
Class: axes
"""

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

HORIZON, GAMMA, TAU, NEAR = 20, 0.95, 0.02, 0.15


class Reach:
    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.place = self.rng.uniform(-0.5, 0.5, 2).astype(np.float32)
        self.goal = self.rng.uniform(-1, 1, 2).astype(np.float32)
        return self.place.copy(), self.goal.copy()

    def step(self, action):
        self.place = np.clip(self.place + 0.2 * action, -1, 1).astype(np.float32)
        return self.place.copy()


def compute_reward(reached, goal):
    return -(np.linalg.norm(reached - goal, axis=-1) > NEAR).astype(np.float32)


class HindsightBuffer:
    def __init__(self, rng):
        self.rng = rng
        self.episodes = []

    def add(self, places, actions, goal):
        self.episodes.append((np.stack(places), np.stack(actions), goal))

    def sample(self, size):
        obs, action, goal, next_obs = [], [], [], []
        for _ in range(size):
            places, actions, wanted = self.episodes[self.rng.integers(len(self.episodes))]
            t = self.rng.integers(len(actions))
            if self.rng.random() < 0.5:
                wanted = places[self.rng.integers(t + 1, len(places))]
            obs.append(places[t])
            action.append(actions[t])
            goal.append(wanted)
            next_obs.append(places[t + 1])
        obs, action, goal, next_obs = (np.stack(x) for x in (obs, action, goal, next_obs))
        reward = compute_reward(next_obs, goal)[:, None]
        return [torch.from_numpy(x) for x in (obs, action, goal, next_obs, reward)]


def mlp(inputs, outputs, *last):
    return nn.Sequential(
        nn.Linear(inputs, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, outputs), *last
    )


rng = np.random.default_rng(345)
torch.manual_seed(345)
actor, critic = mlp(4, 2, nn.Tanh()), mlp(6, 1)
slow_actor, slow_critic = copy.deepcopy(actor), copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
env, buffer = Reach(rng), HindsightBuffer(rng)

for _ in range(40):
    place, goal = env.reset()
    places, actions = [place], []
    for _ in range(HORIZON):
        with torch.no_grad():
            action = actor(torch.from_numpy(np.concatenate([place, goal]))).numpy()
        action = np.clip(action + 0.3 * rng.standard_normal(2), -1, 1).astype(np.float32)
        place = env.step(action)
        places.append(place)
        actions.append(action)
    buffer.add(places, actions, goal)

    for _ in range(4):
        obs, action, goal, next_obs, reward = buffer.sample(64)
        with torch.no_grad():
            there = torch.cat([next_obs, goal], dim=1)
            next_q = slow_critic(torch.cat([there, slow_actor(there)], dim=1))
            # the cut after HORIZON steps is no end of the task, so every step has a next value
            target = (reward + GAMMA * next_q).clamp(-1 / (1 - GAMMA), 0)
        here = torch.cat([obs, goal], dim=1)
        q = critic(torch.cat([here, action], dim=1))
        critic_loss = F.mse_loss(q, target)
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()

        actor_loss = -critic(torch.cat([here, actor(here)], dim=1)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()

        with torch.no_grad():
            for slow, fast in ((slow_actor, actor), (slow_critic, critic)):
                for old, new in zip(slow.parameters(), fast.parameters()):
                    old.lerp_(new, TAU)

print(f"last critic loss {critic_loss.item():.4f}")
