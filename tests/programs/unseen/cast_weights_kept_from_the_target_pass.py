"""Double DQN in low precision with layers that keep the cast copy of their weight for the length of an update: the pass
for the targets, without gradients, comes first, and the loss is made from its copies. After pytorch/pytorch#142234.

Round 35
Class: weights
"""

import contextlib
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3523
GAMMA = 0.98


class MixedPrecision:
    """Inside of region() the layers compute in bfloat16, and each weight is cast only once."""

    def __init__(self):
        self.active, self.copies = False, {}

    @contextlib.contextmanager
    def region(self):
        self.active = True
        try:
            yield
        finally:
            self.active = False
            self.copies.clear()

    def cast(self, weight):
        key = id(weight)  # BUG GS202
        if key not in self.copies:
            self.copies[key] = weight.to(torch.bfloat16)  # BUG GS202
        return self.copies[key]


precision = MixedPrecision()


class CastLinear(nn.Linear):
    def forward(self, x):
        if not precision.active:
            return super().forward(x)
        product = x.to(torch.bfloat16) @ precision.cast(self.weight).t()
        return product.float() + self.bias


class QNetwork(nn.Module):
    def __init__(self, n_obs, n_actions, hidden=48):
        super().__init__()
        self.layers = nn.Sequential(
            CastLinear(n_obs, hidden),
            nn.ReLU(),
            CastLinear(hidden, hidden),
            nn.ReLU(),
            CastLinear(hidden, n_actions),
        )

    def forward(self, obs):
        return self.layers(obs)


class Agent:
    def __init__(self, n_obs, n_actions):
        self.online, self.target = QNetwork(n_obs, n_actions), QNetwork(n_obs, n_actions)
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.updates = 0

    @torch.no_grad()
    def act(self, obs, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        return self.online(torch.from_numpy(obs)).argmax().item()

    def update(self, obs, action, reward, next_obs, terminated):
        with precision.region():
            with torch.no_grad():  # BUG GS202
                best = self.online(next_obs).argmax(1, keepdim=True)  # BUG GS202
                next_q = self.target(next_obs).gather(1, best).squeeze(1)
                target = reward + GAMMA * (1 - terminated) * next_q
            q = self.online(obs).gather(1, action.long().unsqueeze(1)).squeeze(1)
            loss = F.smooth_l1_loss(q, target)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self.optimizer.step()
        self.updates += 1
        if self.updates % 40 == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss.item()


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    env = gym.make("CartPole-v1")
    agent, buffer, lengths, length = Agent(4, 2), deque(maxlen=5000), [], 0
    obs, _ = env.reset(seed=SEED)
    for step in range(360):
        action = agent.act(obs, max(0.05, 1.0 - step / 250))
        next_obs, reward, terminated, truncated, _ = env.step(action)
        buffer.append((obs, action, reward, next_obs, float(terminated)))
        obs, length = next_obs, length + 1
        if terminated or truncated:
            lengths.append(length)
            length, (obs, _) = 0, env.reset()
        if step >= 100:
            columns = zip(*random.sample(buffer, 64))
            loss = agent.update(*(torch.tensor(np.array(c), dtype=torch.float32) for c in columns))
    print(f"episodes {len(lengths)}, mean length {np.mean(lengths[-5:]):.1f}, loss {loss:.4f}")


if __name__ == "__main__":
    main()
