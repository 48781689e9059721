"""A small dueling DQN on a cart with a pole. It runs, raises nothing, and learns badly: several of its
lines are wrong. `make run` shows them.
"""

from __future__ import annotations

import argparse
import copy
import math
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

Transition = tuple[list[float], int, float, list[float], float]


class CartPole:
    """The textbook equations of motion, Euler steps of 20 ms."""

    def reset(self) -> list[float]:
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]
        self.steps = 0
        return list(self.state)

    def step(self, action: int) -> tuple[list[float], float, bool]:
        x, v, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        push = (force + 0.05 * spin**2 * math.sin(angle)) / 1.1
        turn = (9.8 * math.sin(angle) - math.cos(angle) * push) / (
            0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1)
        )
        pull = push - 0.05 * turn * math.cos(angle) / 1.1
        self.state = [x + 0.02 * v, v + 0.02 * pull, angle + 0.02 * spin, spin + 0.02 * turn]
        self.steps += 1
        fell = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21
        return list(self.state), 1.0, fell or self.steps >= 200


class DuelingQ(nn.Module):
    def __init__(self, hidden: int = 64) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, hidden), nn.ReLU())
        self.value = nn.Linear(hidden, 1)
        self.advantage = nn.Linear(hidden, 2)

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        features = self.trunk(state)
        advantage = self.advantage(features)
        return self.value(features) + advantage - advantage.mean(1, keepdim=True)


class Agent:
    """Learns Q, and beside it a model of the cart whose error is a bonus for exploring."""

    def __init__(self, gamma: float = 0.99) -> None:
        self.gamma = gamma
        self.q = DuelingQ()
        self.target_q = copy.deepcopy(self.q)
        self.optimizer = torch.optim.Adam([*self.q.trunk.parameters(), *self.q.value.parameters()], lr=1e-3)
        self.model = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 4))
        self.model_optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def act(self, state: list[float], epsilon: float) -> int:
        if random.random() < epsilon:
            return random.randrange(2)
        with torch.no_grad():
            return int(self.q(torch.tensor([state])).argmax(1).item())

    def update(self, batch: list[Transition]) -> None:
        columns = zip(*batch, strict=True)
        states, actions, rewards, next_states, dones = (torch.tensor(column) for column in columns)
        rewards = rewards + 0.1 * self.update_model(states, actions, next_states)
        q_values = self.q(states).gather(1, actions[:, None]).squeeze(1)
        next_actions = self.q(next_states).argmax(1, keepdim=True)
        next_values = self.q(next_states).gather(1, next_actions).squeeze(1)
        targets = rewards + self.gamma * (1.0 - dones) * next_values
        loss = F.smooth_l1_loss(q_values, targets)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.target_q.parameters(), 10.0)
        self.optimizer.step()

    def update_model(
        self, states: torch.Tensor, actions: torch.Tensor, next_states: torch.Tensor
    ) -> torch.Tensor:
        predicted = self.model(torch.cat([states, actions[:, None].float()], dim=1))
        errors = (predicted - next_states).pow(2).mean(1)
        errors.mean().backward()
        self.model_optimizer.step()
        return errors.detach()

    def sync(self) -> None:
        self.target_q.load_state_dict(self.q.state_dict())


def train(episodes: int, seed: int) -> None:
    random.seed(seed)
    torch.manual_seed(seed)
    env, agent, memory = CartPole(), Agent(), deque[Transition](maxlen=5000)
    updates = 0
    for episode in range(1, episodes + 1):
        state, done, total = env.reset(), False, 0.0
        while not done:
            action = agent.act(state, epsilon=max(0.05, 1.0 - updates / 500))
            next_state, reward, done = env.step(action)
            memory.append((state, action, reward, next_state, float(done)))
            state, total = next_state, total + reward
            if len(memory) >= 64:
                agent.update(random.sample(memory, 32))
                updates += 1
                if updates % 100 == 0:
                    agent.sync()
        if episode % 10 == 0:
            print(f"episode {episode:3d}  return {total:5.0f}  updates {updates}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    train(options.episodes, options.seed)
