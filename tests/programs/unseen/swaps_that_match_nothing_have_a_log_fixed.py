"""The repaired twin of a program in which the following goes wrong.
PPO for a tile game where only some swaps are allowed: the chances of the others are set to zero and then
every chance's logarithm is taken for the entropy. After Unity-Technologies/ml-agents#4664.

Round 36
Class: magnitude
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import nn

SEED, LENGTH, COLORS = 3622, 7, 3
EPSILON = 1e-7


class MatchRow:
    """A row of tiles; a swap of neighbours is allowed where it puts three of a colour together."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.t = 0
        self._deal()
        return self._observe()

    def _deal(self):
        while True:
            self.row = self.rng.integers(COLORS, size=LENGTH)
            if not self._matches(self.row).any() and self.mask().any():
                return

    @staticmethod
    def _matches(row):
        same = (row[:-2] == row[1:-1]) & (row[1:-1] == row[2:])
        hit = np.zeros(LENGTH, dtype=bool)
        for i in np.flatnonzero(same):
            hit[i : i + 3] = True
        return hit

    def _swapped(self, i):
        row = self.row.copy()
        row[[i, i + 1]] = row[[i + 1, i]]
        return row

    def mask(self):
        return np.array([self._matches(self._swapped(i)).any() for i in range(LENGTH - 1)])

    def _observe(self):
        return np.eye(COLORS, dtype=np.float32)[self.row].ravel(), self.mask().astype(np.float32)

    def step(self, action):
        self.t += 1
        row = self._swapped(action)
        hit = self._matches(row)
        reward = float((1.0 + row[hit]).sum()) / 3.0
        self._deal()
        return self._observe(), reward, self.t >= 12


class CategoricalDistInstance(nn.Module):
    def __init__(self, probs):
        super().__init__()
        self.probs = probs

    def sample(self):
        return torch.multinomial(self.probs, 1).squeeze(-1)

    def log_prob(self, value):
        return torch.log(self.probs.gather(-1, value.unsqueeze(-1)).squeeze(-1) + EPSILON)

    def entropy(self):
        return -torch.sum(self.probs * torch.log(self.probs + EPSILON), dim=-1)


class MaskedActor(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(LENGTH * COLORS, hidden), nn.SiLU())
        self.branch = nn.Linear(hidden, LENGTH - 1)
        self.value_head = nn.Linear(hidden, 1)

    def forward(self, obs, mask):
        encoding = self.encoder(obs)
        raw_probs = torch.softmax(self.branch(encoding), dim=-1) * mask
        dist = CategoricalDistInstance(raw_probs / raw_probs.sum(dim=-1, keepdim=True))
        return dist, self.value_head(encoding).squeeze(-1)


class Trajectory(NamedTuple):
    obs: list
    masks: list
    actions: list
    log_probs: list
    values: list
    rewards: list


def collect(env, policy, horizon):
    """Whole games of a fixed number of moves, after which the row is taken away."""
    traj, advantages = Trajectory([], [], [], [], [], []), []
    while len(traj.rewards) < horizon:
        (obs, mask), over, first = env.reset(), False, len(traj.rewards)
        while not over:
            with torch.no_grad():
                dist, value = policy(torch.from_numpy(obs)[None], torch.from_numpy(mask)[None])
                action = dist.sample()
                log_prob = dist.log_prob(action)
            (next_obs, next_mask), reward, over = env.step(action.item())
            for column, x in zip(traj, (obs, mask, action.item(), log_prob.item(), value.item(), reward)):
                column.append(x)
            obs, mask = next_obs, next_mask
        running, next_value, game = 0.0, 0.0, []
        for t in reversed(range(first, len(traj.rewards))):
            delta = traj.rewards[t] + 0.9 * next_value - traj.values[t]
            running, next_value = delta + 0.9 * 0.95 * running, traj.values[t]
            game.insert(0, running)
        advantages += game
    return traj, torch.tensor(advantages)


def main(updates=15, epochs=3, horizon=96):
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    env, policy = MatchRow(SEED), MaskedActor()
    optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
    for update in range(updates):
        traj, advantages = collect(env, policy, horizon)
        obs, masks = torch.from_numpy(np.stack(traj.obs)), torch.from_numpy(np.stack(traj.masks))
        actions, old_log_probs = torch.tensor(traj.actions), torch.tensor(traj.log_probs)
        returns = advantages + torch.tensor(traj.values)
        normed = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        for _ in range(epochs):
            dist, values = policy(obs, masks)
            ratio = torch.exp(dist.log_prob(actions) - old_log_probs)
            surrogate = torch.min(ratio * normed, ratio.clamp(0.8, 1.2) * normed)
            value_loss = (values - returns).pow(2).mean()
            loss = -surrogate.mean() + 0.5 * value_loss - 5e-3 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if update % 5 == 4:
            print(f"update {update + 1}: reward per move {np.mean(traj.rewards):.3f}")


main()
