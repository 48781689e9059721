"""The network divides pictures by 255 if they are bytes. Learning hands it bytes; acting makes floats of them first,
so the actions are drawn, and scored, by a network that saw other numbers than the one that is trained.

Round 16
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1606)
rng = np.random.default_rng(1606)
SIDE, ENVS, STEPS, GAMMA, LAMBDA = 7, 8, 16, 0.95, 0.9


class Falling:
    """Copies of a game: a ball falls, the paddle in the last row has to be below it."""

    def __init__(self):
        self.ball = np.stack([np.zeros(ENVS, int), rng.integers(SIDE, size=ENVS)], 1)
        self.paddle = np.full(ENVS, SIDE // 2)

    def frames(self):
        picture = np.zeros((ENVS, 1, SIDE, SIDE), np.uint8)
        rows = np.arange(ENVS)
        picture[rows, 0, self.ball[:, 0], self.ball[:, 1]] = 255
        picture[rows, 0, SIDE - 1, self.paddle] = 128
        return picture

    def step(self, action):
        self.paddle = np.clip(self.paddle + action - 1, 0, SIDE - 1)
        self.ball[:, 0] += 1
        done = self.ball[:, 0] == SIDE - 1
        reward = np.where(done, np.where(self.ball[:, 1] == self.paddle, 1.0, -1.0), 0.0)
        self.ball[done, 0] = 0
        self.ball[done, 1] = rng.integers(SIDE, size=int(done.sum()))
        return self.frames(), reward.astype(np.float32), done.astype(np.float32)


class PictureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * SIDE * SIDE, 32), nn.Tanh()
        )
        self.logits, self.value = nn.Linear(32, 3), nn.Linear(32, 1)

    def forward(self, pictures):
        if pictures.dtype == torch.uint8:  # BUG GS803
            pictures = pictures.float() / 255
        x = self.body(pictures)
        return Categorical(logits=self.logits(x)), self.value(x).squeeze(-1)


class Ppo:
    def __init__(self):
        self.env, self.net = Falling(), PictureNet()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=5e-4)
        self.frames = self.env.frames()

    @torch.no_grad()
    def act(self, frames):
        dist, value = self.net(torch.Tensor(frames))  # BUG GS803
        action = dist.sample()
        return action, dist.log_prob(action), value  # BUG GS803

    def rollout(self):
        store = {name: [] for name in ("frames", "action", "log_prob", "value", "reward", "done")}
        for _ in range(STEPS):
            action, log_prob, value = self.act(self.frames)
            after, reward, done = self.env.step(action.numpy())
            row = (torch.from_numpy(self.frames), action, log_prob, value)
            for name, item in zip(store, (*row, torch.from_numpy(reward), torch.from_numpy(done))):
                store[name].append(item)
            self.frames = after
        batch = {name: torch.stack(items) for name, items in store.items()}
        batch["advantage"] = self.advantages(batch, self.act(self.frames)[2])
        return batch

    def advantages(self, batch, ahead):
        carry, out = torch.zeros(ENVS), []
        for t in reversed(range(STEPS)):
            alive = 1 - batch["done"][t]
            delta = batch["reward"][t] + GAMMA * alive * ahead - batch["value"][t]
            carry = delta + GAMMA * LAMBDA * alive * carry
            out.append(carry)
            ahead = batch["value"][t]
        return torch.stack(out[::-1])

    def update(self, batch):
        flat = {name: item.flatten(0, 1) for name, item in batch.items()}
        returns = flat["advantage"] + flat["value"]
        weight = (flat["advantage"] - flat["advantage"].mean()) / (flat["advantage"].std() + 1e-8)
        for rows in torch.randperm(STEPS * ENVS).repeat(2).split(32):
            dist, value = self.net(flat["frames"][rows])
            ratio = (dist.log_prob(flat["action"][rows]) - flat["log_prob"][rows]).exp()
            gain = torch.min(ratio * weight[rows], ratio.clamp(0.8, 1.2) * weight[rows])
            loss = -gain.mean() + 0.5 * (value - returns[rows]).pow(2).mean() - 0.01 * dist.entropy().mean()
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
            self.optimizer.step()
        return batch["reward"].sum().item()


agent = Ppo()
print([round(agent.update(agent.rollout()), 1) for _ in range(12)])
