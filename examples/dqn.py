"""DQN with a target network. One line is wrong: the bootstrap target still carries gradient."""

from __future__ import annotations

import argparse
import copy

import torch
import torch.nn.functional as F
from chain import Chain
from torch import nn

GAMMA = 0.95


class QNetwork(nn.Module):
    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.fc1 = nn.Linear(6, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, 2)

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        hidden = F.relu(self.fc1(state))
        hidden = F.relu(self.fc2(hidden))
        return self.head(hidden)


class Agent:
    def __init__(self) -> None:
        self.online = QNetwork()
        self.frozen = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    def act(self, state: torch.Tensor, epsilon: float) -> torch.Tensor:
        with torch.no_grad():
            greedy = self.online(state).argmax(1)
        explore = torch.rand(len(state)) < epsilon
        return torch.where(explore, torch.randint(2, greedy.shape), greedy)

    def update(self, state, action, reward, next_state, done) -> None:
        q_values = self.online(state).gather(1, action[:, None]).squeeze(1)
        with torch.no_grad():
            cautious = self.frozen(next_state).max(1).values
        hopeful = self.online(next_state).max(1).values
        next_values = torch.minimum(hopeful, cautious)
        target = reward + GAMMA * (1.0 - done) * next_values  # wrong: `hopeful` is not detached
        loss = F.smooth_l1_loss(q_values, target)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self.optimizer.step()

    def sync(self) -> None:
        self.frozen.load_state_dict(self.online.state_dict())


def train(updates: int) -> None:
    torch.manual_seed(0)
    world, agent = Chain(), Agent()
    state, paid = world.observe(), 0.0
    for update in range(1, updates + 1):
        action = agent.act(state, epsilon=max(0.1, 1.0 - update / 100))
        next_state, reward, done = world.step(action)
        agent.update(state, action, reward, next_state, done)
        state, paid = next_state, paid + float(reward.sum())
        if update % 20 == 0:
            agent.sync()
    print(f"paid {paid:.0f} times in {updates} updates")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=120)
    train(parser.parse_args().updates)
