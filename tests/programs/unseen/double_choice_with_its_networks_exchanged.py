"""Double learning with its roles exchanged: the slow network chooses the next action, and the network that is trained gives
its value, with gradients on.

Round 16
Class: the line
"""

from collections import deque

import numpy as np
import torch
from torch import nn

torch.manual_seed(1607)
rng = np.random.default_rng(1607)


class Maze:
    """A grid of five by five with a goal; a wrong turn into the lava ends the walk."""

    moves = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])
    lava = ((1, 3), (3, 1))

    def reset(self):
        self.cell = np.zeros(2, dtype=int)
        return self.encode()

    def encode(self):
        return np.eye(25, dtype=np.float32)[self.cell[0] * 5 + self.cell[1]]

    def step(self, action):
        self.cell = np.clip(self.cell + self.moves[action], 0, 4)
        if tuple(self.cell) in self.lava:
            return self.encode(), -1.0, True
        return self.encode(), float(self.cell.sum() == 8) - 0.02, bool(self.cell.sum() == 8)


class QNet(nn.Module):
    def __init__(self, inputs=25, actions=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 48), nn.SELU())
        self.value, self.advantage = nn.Linear(48, 1), nn.Linear(48, actions)

    def forward(self, x):
        hidden = self.body(x)
        advantage = self.advantage(hidden)
        return self.value(hidden) + advantage - advantage.mean(-1, keepdim=True)


class VanillaDQN:
    gamma, lr, batch_size, sync_every = 0.95, 2e-3, 32, 20

    def __init__(self):
        self.net = QNet()
        self.target_net = QNet().requires_grad_(False)
        self.target_net.load_state_dict(self.net.state_dict())
        self.optim = torch.optim.Adam(self.net.parameters(), lr=self.lr)
        self.memory, self.updates, self.explore = deque(maxlen=1500), 0, 1.0

    def act(self, state):
        if rng.random() < self.explore:
            return int(rng.integers(4))
        with torch.no_grad():
            return self.net(torch.from_numpy(state)).argmax().item()

    def sample(self):
        rows = [self.memory[i] for i in rng.integers(len(self.memory), size=self.batch_size)]
        states, actions, rewards, next_states, dones = map(np.array, zip(*rows))
        floats = [torch.as_tensor(x, dtype=torch.float32) for x in (states, rewards, next_states, dones)]
        return dict(
            zip(("states", "rewards", "next_states", "dones"), floats), actions=torch.as_tensor(actions)
        )

    def calc_next_q(self, batch):
        with torch.no_grad():
            return self.target_net(batch["next_states"]).max(-1).values

    def calc_q_loss(self, batch):
        q_preds = self.net(batch["states"])
        act_q_preds = q_preds.gather(-1, batch["actions"].unsqueeze(-1)).squeeze(-1)
        next_q = self.calc_next_q(batch)
        q_targets = batch["rewards"] + self.gamma * (1 - batch["dones"]) * next_q  # BUG GS301
        return nn.functional.smooth_l1_loss(act_q_preds, q_targets)

    def train(self):
        loss = self.calc_q_loss(self.sample())
        self.optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optim.step()
        self.updates += 1
        self.explore = max(0.1, self.explore * 0.98)
        if self.updates % self.sync_every == 0:
            self.target_net.load_state_dict(self.net.state_dict())
        return loss.item()


class DoubleDQN(VanillaDQN):
    def calc_next_q(self, batch):
        online_next_q = self.net(batch["next_states"])  # BUG GS301
        target_next_q = self.target_net(batch["next_states"])
        return online_next_q.gather(-1, target_next_q.argmax(-1, keepdim=True)).squeeze(-1)  # BUG GS301


env, agent = Maze(), DoubleDQN()
state = env.reset()
for frame in range(500):
    action = agent.act(state)
    next_state, reward, done = env.step(action)
    agent.memory.append((state, action, reward, next_state, done))
    state = env.reset() if done else next_state
    if frame >= 100 and frame % 4 == 0:
        loss = agent.train()
        if frame % 100 == 0:
            print(frame, loss, agent.explore)
