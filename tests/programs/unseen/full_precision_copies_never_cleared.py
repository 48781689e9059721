"""A network in half precision, trained through copies of its weights in full precision: a wrapper moves every
gradient over to them. Its zero_grad clears the network; the copies go on adding, update after update.

Round 17
Class: gradients by hand
"""

import copy
import random

import numpy as np
import torch
from torch import nn

random.seed(1705)
torch.manual_seed(1705)
rng = np.random.default_rng(1705)
HALF = torch.bfloat16


class FullPrecisionOptimizer:
    """Steps copies of the weights in full precision and writes them back into the network."""

    def __init__(self, module, **options):
        self.small = [p for p in module.parameters() if p.requires_grad]
        self.large = [p.detach().float().clone().requires_grad_() for p in self.small]
        self.inner = torch.optim.Adam(self.large, **options)

    def zero_grad(self):  # BUG GS401
        for small in self.small:
            small.grad = None  # BUG GS401

    def collect(self):
        for small, large in zip(self.small, self.large):
            if large.grad is None:
                large.grad = small.grad.float()
            else:
                large.grad.add_(small.grad.float())  # BUG GS401
            small.grad = None

    def step(self):
        self.inner.step()  # BUG GS401
        with torch.no_grad():
            for small, large in zip(self.small, self.large):
                small.copy_(large)


class Corridor:
    """Walk to the right end of a corridor of seven; an episode ends there or after twenty steps."""

    def reset(self):
        self.place, self.clock = 0, 0
        return self.observe()

    def observe(self):
        return np.eye(7, dtype=np.float32)[self.place]

    def step(self, action):
        self.place = int(np.clip(self.place + (1 if action else -1), 0, 6))
        self.clock += 1
        ended = self.place == 6
        return self.observe(), float(ended) - 0.02, ended, self.clock >= 20


class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 2)).to(HALF)
        self.slow = copy.deepcopy(self.q).requires_grad_(False)
        self.optimizer = FullPrecisionOptimizer(self.q, lr=2e-3)

    def act(self, obs, epsilon=0.3):
        if rng.random() < epsilon:
            return int(rng.integers(2))
        with torch.no_grad():
            return int(self.q(torch.from_numpy(obs).to(HALF)).argmax())

    def loss(self, batch):
        obs, action, reward, after, ended = (torch.as_tensor(np.array(x)) for x in zip(*batch))
        with torch.no_grad():
            best = self.q(after.to(HALF)).argmax(1, keepdim=True)
            ahead = self.slow(after.to(HALF)).gather(1, best).squeeze(1).float()
            goal = reward.float() + 0.95 * (~ended).float() * ahead
        taken = self.q(obs.to(HALF)).gather(1, action.unsqueeze(1)).squeeze(1).float()
        return nn.functional.smooth_l1_loss(taken, goal)

    def learn(self, replay, pieces=2):
        self.optimizer.zero_grad()
        for _ in range(pieces):
            (self.loss(random.sample(replay, 16)) / pieces).backward()
            self.optimizer.collect()
        self.optimizer.step()


agent, env, replay = Agent(), Corridor(), []
obs = env.reset()
for step in range(240):
    action = agent.act(obs)
    after, reward, ended, late = env.step(action)
    replay.append((obs, action, reward, after, ended))
    obs = env.reset() if ended or late else after
    if step >= 60 and step % 3 == 0:
        agent.learn(replay)
    if step % 30 == 0:
        agent.slow.load_state_dict(agent.q.state_dict())
