"""An agent with a switch for double Q-learning: the branch with the switch on keeps the column that gather leaves, and
Repaired here.
the flat rewards and masks of the batch turn the targets into a square.

Round 14
Class: axes
"""

import random
from collections import deque
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    state_dim: int = 4
    action_dim: int = 3
    discount: float = 0.97
    double_q: bool = True
    batch_size: int = 24
    target_every: int = 20
    lr: float = 2e-3
    log: list = field(default_factory=list)


class Corridor:
    """Go right until the end; a step costs a little."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.place, self.clock = 0.0, 0
        return self.observe()

    def observe(self):
        return np.array(
            [self.place, 1 - self.place, self.clock / 20, self.rng.normal() * 0.1], dtype=np.float32
        )

    def step(self, action):
        self.place += (-0.1, 0.0, 0.15)[action]
        self.clock += 1
        terminal = self.place >= 1.0
        reward = 1.0 if terminal else -0.02
        return self.observe(), reward, terminal, self.clock >= 20


class Replay:
    def __init__(self, size):
        self.data = deque(maxlen=size)

    def feed(self, *transition):
        self.data.append(transition)

    def sample(self, count):
        columns = zip(*random.sample(list(self.data), count), strict=True)
        return [np.asarray(column, dtype=np.float32) for column in columns]


class QNet(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(config.state_dim, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.head = nn.Linear(32, config.action_dim)

    def forward(self, x):
        return {"q": self.head(self.body(torch.as_tensor(x)))}


class Agent:
    def __init__(self, config):
        self.config = config
        self.network, self.target_network = QNet(config), QNet(config)
        self.target_network.load_state_dict(self.network.state_dict())
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.lr)
        self.replay = Replay(2000)
        self.updates = 0

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(self.config.action_dim)
        with torch.no_grad():
            return int(self.network(state[None])["q"].argmax())

    def next_values(self, states):
        with torch.no_grad():
            q_next = self.target_network(states)["q"]
            if self.config.double_q:
                best = self.network(states)["q"].argmax(dim=-1)
                return q_next.gather(1, best.unsqueeze(-1)).squeeze(1)
            return q_next.max(1)[0]

    def compute_loss(self):
        states, actions, rewards, next_states, masks = self.replay.sample(self.config.batch_size)
        target = torch.as_tensor(rewards) + self.config.discount * torch.as_tensor(masks) * self.next_values(
            next_states
        )
        chosen = (
            self.network(states)["q"].gather(1, torch.as_tensor(actions).long().unsqueeze(-1)).squeeze(-1)
        )
        return F.mse_loss(chosen, target)

    def learn(self):
        loss = self.compute_loss()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.config.target_every == 0:
            self.target_network.load_state_dict(self.network.state_dict())
        self.config.log.append(loss.item())


random.seed(14)
torch.manual_seed(1401)
agent, env = Agent(Config()), Corridor(np.random.default_rng(14))
state = env.reset()
for step in range(260):
    action = agent.act(state, epsilon=max(0.2, 1 - step / 150))
    following, reward, terminal, late = env.step(action)
    agent.replay.feed(state, action, reward, following, 1.0 - terminal)
    state = env.reset() if terminal or late else following
    if step >= 60 and step % 2 == 0:
        agent.learn()
print(f"{np.mean(agent.config.log[-10:]):.4f}")
