"""Expected SARSA with a small network walks along a cliff, without a target network. The expectation over
the next moves comes from the network that is trained, without gradients.

Round 33
Class: weights
"""

import random
from collections import deque
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

WIDTH, HEIGHT = 6, 3
MOVES = ((0, 1), (0, -1), (1, 0), (-1, 0))


@dataclass
class Config:
    seed: int = 3
    gamma: float = 0.95
    lr: float = 2e-3
    batch: int = 32
    epsilon: float = 0.2
    steps: int = 600
    limit: int = 40


class Cliff:
    def reset(self):
        self.x, self.y = 0, 0
        return self.observe()

    def observe(self):
        obs = np.zeros(WIDTH + HEIGHT, dtype=np.float32)
        obs[self.x] = 1
        obs[WIDTH + self.y] = 1
        return obs

    def step(self, move):
        dx, dy = MOVES[move]
        self.x = min(max(self.x + dx, 0), WIDTH - 1)
        self.y = min(max(self.y + dy, 0), HEIGHT - 1)
        if self.y == 0 and 0 < self.x < WIDTH - 1:
            return self.observe(), -2.0, True
        if self.y == 0 and self.x == WIDTH - 1:
            return self.observe(), 1.0, True
        return self.observe(), -0.02, False


def behaviour(q, epsilon):
    probs = torch.full_like(q, epsilon / q.shape[-1])
    best = q.argmax(-1, keepdim=True)
    return probs.scatter(-1, best, 1 - epsilon + epsilon / q.shape[-1])


def train(cfg):
    torch.manual_seed(cfg.seed)
    random.seed(cfg.seed)
    net = nn.Sequential(nn.Linear(WIDTH + HEIGHT, 48), nn.ReLU(), nn.Linear(48, len(MOVES)))
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    memory = deque(maxlen=2000)
    env = Cliff()
    obs, clock = env.reset(), 0
    for step in range(cfg.steps):
        with torch.no_grad():
            move = torch.multinomial(behaviour(net(torch.from_numpy(obs)), cfg.epsilon), 1).item()
        next_obs, reward, over = env.step(move)
        memory.append((obs, move, reward, next_obs, float(over)))
        obs, clock = next_obs, clock + 1
        if over or clock == cfg.limit:
            obs, clock = env.reset(), 0
        if len(memory) < 2 * cfg.batch:
            continue
        batch = random.sample(memory, cfg.batch)
        s, a, r, s2, d = (torch.as_tensor(np.array(x)) for x in zip(*batch))
        q = net(s).gather(1, a[:, None]).squeeze(1)
        with torch.no_grad():
            next_q = net(s2)
            expected = (behaviour(next_q, cfg.epsilon) * next_q).sum(1)
            target = r.float() + cfg.gamma * (1 - d.float()) * expected
        loss = nn.functional.mse_loss(q, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 150 == 149:
            print(f"step {step + 1}: loss {loss.item():.4f}, start is worth {net(s).max().item():.3f}")


if __name__ == "__main__":
    train(Config())
