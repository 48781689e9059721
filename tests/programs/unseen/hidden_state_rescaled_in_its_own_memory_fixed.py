"""A small MuZero brings its hidden state into the range from zero to one, as the paper says, into a new tensor. The
rescaling is that of werner-duvaud/muzero-general; the error it avoids is that of pytorch/rl#1742.

Round 25
Class: the line
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    seed: int = 2503
    size: int = 6
    actions: int = 2
    hidden: int = 24
    unroll: int = 3
    discount: float = 0.9
    batch: int = 32
    updates: int = 60
    lr: float = 3e-3


class Corridor:
    """Walk to the right end; the left end is a dead end that costs something."""

    def __init__(self, size, rng):
        self.size, self.rng = size, rng

    def reset(self):
        self.place = int(self.rng.integers(1, self.size - 1))
        return self.observe()

    def observe(self):
        return np.eye(self.size, dtype=np.float32)[self.place]

    def step(self, action):
        self.place += 1 if action == 1 else -1
        done = self.place in (0, self.size - 1)
        return self.observe(), float(self.place == self.size - 1) - 0.5 * (self.place == 0), done


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 48), nn.ELU(), nn.Linear(48, outputs))


class MuZeroNetwork(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.actions = cfg.actions
        self.representation = nn.Sequential(mlp(cfg.size, cfg.hidden), nn.Sigmoid())
        self.dynamics = nn.Sequential(mlp(cfg.hidden + cfg.actions, cfg.hidden), nn.Sigmoid())
        self.reward, self.value = mlp(cfg.hidden, 1), mlp(cfg.hidden, 1)
        self.policy = mlp(cfg.hidden, cfg.actions)

    @staticmethod
    def rescale(state):
        low = state.min(1, keepdim=True)[0]
        scale = state.max(1, keepdim=True)[0] - low + 1e-5
        return (state - low) / scale

    def predict(self, state):
        return self.policy(state), self.value(state).squeeze(1)

    def initial(self, obs):
        state = self.rescale(self.representation(obs))
        return state, *self.predict(state)

    def recurrent(self, state, action):
        state = self.dynamics(torch.cat([state, F.one_hot(action, self.actions).float()], 1))
        state = self.rescale(state)
        return state, self.reward(state).squeeze(1), *self.predict(state)


def play(env, network, rng, discount):
    """One game with a search of depth one as its improved policy."""
    obs, done, game = env.reset(), False, []
    while not done:
        with torch.no_grad():
            state, logits, _ = network.initial(torch.from_numpy(obs)[None])
            q = []
            for a in range(network.actions):
                _, reward, _, value = network.recurrent(state.clone(), torch.tensor([a]))
                q.append((reward + discount * value).item())
            target = torch.softmax(logits[0] + torch.tensor(q) * 2, 0).numpy()
        action = int(rng.random() < 0.8 * target[1] + 0.1)
        next_obs, reward, done = env.step(action)
        game.append((obs, action, np.float32(reward), target))
        obs = next_obs
    outcome, values = 0.0, []
    for _, _, reward, _ in reversed(game):
        outcome = float(reward) + discount * outcome
        values.insert(0, np.float32(outcome))
    return [(*row, value) for row, value in zip(game, values)]


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    env, network = Corridor(cfg.size, rng), MuZeroNetwork(cfg)
    optimizer = torch.optim.Adam(network.parameters(), lr=cfg.lr, weight_decay=1e-4)
    uniform = np.full(cfg.actions, 1 / cfg.actions, dtype=np.float32)
    absorbing = (None, 0, np.float32(0), uniform, np.float32(0))
    games = [play(env, network, rng, cfg.discount) for _ in range(10)]
    for _ in range(cfg.updates):
        games.append(play(env, network, rng, cfg.discount))
        windows = []
        for _ in range(cfg.batch):
            game = games[rng.integers(len(games))]
            start = rng.integers(len(game))
            windows.append((game + [absorbing] * (cfg.unroll + 1))[start : start + cfg.unroll + 1])
        obs = torch.from_numpy(np.stack([w[0][0] for w in windows]))
        steps = [
            [torch.as_tensor(np.stack(x)) for x in zip(*(w[k][1:] for w in windows))]
            for k in range(cfg.unroll + 1)
        ]

        state, logits, value = network.initial(obs)
        loss = F.cross_entropy(logits, steps[0][2]) + F.mse_loss(value, steps[0][3])
        for k in range(cfg.unroll):
            state, reward, logits, value = network.recurrent(state, steps[k][0])
            loss = loss + F.mse_loss(reward, steps[k][1]) + F.mse_loss(value, steps[k + 1][3])
            loss = loss + F.cross_entropy(logits, steps[k + 1][2])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
