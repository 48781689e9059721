"""Advantage actor-critic with segments that stop at five steps or at the end of the game: the value of the state
behind the segment is always added, also where that state is the end and has no future. After
lazyprogrammer/machine_learning_examples#13 (the value of a terminal state is not zero).

Round 26
Class: meaning
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class Cliff:
    """A walk on a 3 x 6 board: the goal lies at the far end, below the way lies the cliff."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.row, self.column = int(self.rng.integers(0, 2)), 0
        return self.observation()

    def observation(self):
        return np.array([self.row / 2, self.column / 5, float(self.row == 1)], dtype=np.float32)

    def step(self, action):
        drow, dcolumn = [(-1, 0), (1, 0), (0, -1), (0, 1)][action]
        self.row = int(np.clip(self.row + drow, 0, 2))
        self.column = int(np.clip(self.column + dcolumn, 0, 5))
        if self.row == 2:
            return self.observation(), -5.0, True
        if self.column == 5:
            return self.observation(), 5.0, True
        return self.observation(), -0.1, False


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 48), nn.Tanh())
        self.pi, self.v = nn.Linear(48, 4), nn.Linear(48, 1)

    def forward(self, state):
        hidden = self.body(torch.as_tensor(state))
        return Categorical(logits=self.pi(hidden)), self.v(hidden).squeeze(-1)


@dataclass
class Segment:
    log_probs: list = field(default_factory=list)
    values: list = field(default_factory=list)
    entropies: list = field(default_factory=list)
    rewards: list = field(default_factory=list)


class Worker:
    def __init__(self, seed, gamma=0.97, horizon=5):
        torch.manual_seed(seed)
        self.env, self.net = Cliff(seed), Network()
        self.gamma, self.horizon = gamma, horizon
        self.optimizer = torch.optim.RMSprop(self.net.parameters(), lr=2e-3)
        self.state = self.env.reset()

    def collect(self):
        segment, done = Segment(), False
        while len(segment.rewards) < self.horizon and not done:
            dist, value = self.net(self.state)
            action = dist.sample()
            self.state, reward, done = self.env.step(int(action))
            segment.log_probs.append(dist.log_prob(action))
            segment.values.append(value)
            segment.entropies.append(dist.entropy())
            segment.rewards.append(reward)
        return segment, done

    def returns(self, segment, done):
        with torch.no_grad():
            running = self.net(self.state)[1]  # BUG GS805
        returns = []
        for reward in reversed(segment.rewards):
            running = reward + self.gamma * running  # BUG GS805
            returns.append(running)
        return torch.stack(returns[::-1])

    def update(self):
        segment, done = self.collect()
        returns = self.returns(segment, done)
        values = torch.stack(segment.values)
        advantages = (returns - values).detach()
        policy_loss = -(torch.stack(segment.log_probs) * advantages).mean()
        value_loss = 0.5 * (values - returns).pow(2).mean()
        loss = policy_loss + value_loss - 0.02 * torch.stack(segment.entropies).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        if done:
            self.state = self.env.reset()
        return sum(segment.rewards)


worker = Worker(seed=2625)
scores = [worker.update() for _ in range(120)]
print("first", round(sum(scores[:40]), 2), "last", round(sum(scores[-40:]), 2))
