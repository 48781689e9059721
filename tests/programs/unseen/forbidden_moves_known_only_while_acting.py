"""PPO for a packer who must not choose a box that is already full. While acting the forbidden boxes are
masked, but the update scores the stored moves without the mask, so the ratio compares two different
distributions.

Round 34
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

BOXES, ROOM, ITEMS = 4, 5, 12


class Packing:
    """Twelve items of one to three units go into four boxes; a box that is just full pays one."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.left = np.full(BOXES, ROOM)
        self.packed = 0
        self.item = self.rng.integers(1, 4)
        return self.observe()

    def observe(self):
        state = [*(self.left / ROOM), self.item / 3, self.packed / ITEMS]
        allowed = self.left >= self.item
        if not allowed.any():
            self.left[self.left.argmin()] = ROOM
            return self.observe()
        return torch.tensor(state, dtype=torch.float32), torch.from_numpy(allowed)

    def step(self, box):
        self.left[box] -= self.item
        reward = 1.0 if self.left[box] == 0 else -0.1
        if self.left[box] == 0:
            self.left[box] = ROOM
        self.packed += 1
        self.item = self.rng.integers(1, 4)
        return self.observe(), reward, self.packed == ITEMS


class Packer(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(BOXES + 2, 48), nn.Tanh(), nn.Linear(48, BOXES))
        self.v = nn.Sequential(nn.Linear(BOXES + 2, 48), nn.Tanh(), nn.Linear(48, 1))

    def forward(self, state, allowed=None):
        logits = self.pi(state)
        if allowed is not None:
            logits = logits.masked_fill(~allowed, -1e9)
        return Categorical(logits=logits), self.v(state).squeeze(-1)


def collect(env, packer, games=8):
    rollout = []
    for _ in range(games):
        (state, allowed), ended = env.reset(), False
        while not ended:
            with torch.no_grad():
                dist, value = packer(state, allowed)  # BUG GS803
                box = dist.sample()
            (next_state, next_allowed), reward, ended = env.step(box.item())
            step = (state, allowed, box, dist.log_prob(box), value, reward, ended)  # BUG GS803
            rollout.append(step)
            state, allowed = next_state, next_allowed
    return rollout


def advantages_of(reward, ended, value, gamma=0.97, lam=0.9):
    advantage, running = torch.zeros_like(value), 0.0
    for t in reversed(range(len(value))):
        alive = not ended[t]
        next_value = value[t + 1] if alive else 0.0
        delta = reward[t] + gamma * next_value - value[t]
        running = delta + gamma * lam * alive * running
        advantage[t] = running
    return advantage


torch.manual_seed(349)
env, packer = Packing(34), Packer()
optimizer = torch.optim.Adam(packer.parameters(), lr=2e-3)
for _ in range(12):
    *columns, reward, ended = zip(*collect(env, packer))
    state, allowed, box, old_log_prob, old_value = (torch.stack(column) for column in columns)
    advantage = advantages_of(reward, ended, old_value)
    returns = advantage + old_value
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(4):
        dist, value = packer(state)  # BUG GS803
        ratio = (dist.log_prob(box) - old_log_prob).exp()  # BUG GS803
        surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = -surrogate + 0.5 * (value - returns).pow(2).mean() - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(packer.parameters(), 0.5)
        optimizer.step()
print(f"reward per game {sum(reward) / sum(ended):.2f}")
