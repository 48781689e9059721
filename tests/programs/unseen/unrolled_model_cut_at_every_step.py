"""MuZero: the hidden state is detached before every step of the dynamics, so neither the encoder nor the earlier
applications of the dynamics learn from the values and policies further down the unroll. After
nicklashansen/tdmpc#20 (latents detached in the rollout) and werner-duvaud/muzero-general#22.

Round 27
Class: zero in part
"""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED, SIZE, ACTIONS, UNROLL, GAMMA, HIDDEN = 2705, 8, 3, 4, 0.9, 24


class River:
    """Cross a river of eight stones: stay, hop or leap; leaps sometimes end in the water."""

    def reset(self):
        self.stone, self.t = 0, 0
        return self.observe()

    def observe(self):
        o = torch.zeros(SIZE)
        o[self.stone] = 1.0
        return o

    def step(self, action):
        self.t += 1
        wet = action == 2 and self.stone % 3 == 2
        self.stone = min(SIZE - 1, self.stone + action)
        won = self.stone == SIZE - 1
        reward = -1.0 if wet else (1.0 if won else -0.05)
        return self.observe(), reward, wet or won or self.t >= 12


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.representation = nn.Sequential(nn.Linear(SIZE, 32), nn.ReLU(), nn.Linear(32, HIDDEN), nn.Tanh())
        self.dynamics = nn.Sequential(
            nn.Linear(HIDDEN + ACTIONS, 32), nn.ReLU(), nn.Linear(32, HIDDEN), nn.Tanh()
        )
        self.reward = nn.Linear(HIDDEN, 1)
        self.policy = nn.Linear(HIDDEN, ACTIONS)
        self.value = nn.Linear(HIDDEN, 1)

    def predict(self, hidden):
        return self.policy(hidden), self.value(hidden).squeeze(-1)

    def recurrent(self, hidden, action):
        hidden = self.dynamics(torch.cat([hidden, F.one_hot(action, ACTIONS).float()], -1))
        return hidden, self.reward(hidden).squeeze(-1)


@torch.no_grad()
def search(model, obs):
    """One step of look-ahead in the model stands in for the tree."""
    hidden = model.representation(obs).expand(ACTIONS, -1)
    hidden, reward = model.recurrent(hidden, torch.arange(ACTIONS))
    scores = reward + GAMMA * model.predict(hidden)[1]
    return torch.softmax(scores / 0.3, 0)


def play(model, env):
    game, obs, end = [], env.reset(), False
    while not end:
        visits = search(model, obs)
        action = int(torch.multinomial(0.8 * visits + 0.2 / ACTIONS, 1))
        nxt, reward, end = env.step(action)
        game.append([obs, action, reward, visits, 0.0])
        obs = nxt
    total = 0.0
    for row in reversed(game):
        total = row[2] + GAMMA * total
        row[4] = total
    return game


def window(games):
    game = random.choice([g for g in games if len(g) > UNROLL])
    start = random.randrange(len(game) - UNROLL)
    return game[start : start + UNROLL + 1]


def loss_of(model, games, batch=16):
    rows = [window(games) for _ in range(batch)]
    obs = torch.stack([r[0][0] for r in rows])
    actions, rewards, visits, values = (
        torch.stack([torch.stack([torch.as_tensor(step[k]) for step in r]) for r in rows])
        for k in (1, 2, 3, 4)
    )
    hidden = model.representation(obs)
    logits, value = model.predict(hidden)
    loss = F.cross_entropy(logits, visits[:, 0]) + 0.25 * F.mse_loss(value, values[:, 0])
    for k in range(UNROLL):
        hidden, reward = model.recurrent(hidden.detach(), actions[:, k])  # BUG GS202
        logits, value = model.predict(hidden)
        step_loss = F.mse_loss(reward, rewards[:, k])
        step_loss = step_loss + F.cross_entropy(logits, visits[:, k + 1])
        step_loss = step_loss + 0.25 * F.mse_loss(value, values[:, k + 1])
        loss = loss + step_loss / UNROLL
    return loss


random.seed(SEED)
torch.manual_seed(SEED)
model, env = Model(), River()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
games = [play(model, env) for _ in range(12)]
for update in range(60):
    if update % 5 == 0:
        games = [*games, play(model, env)][-40:]
    loss = loss_of(model, games)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("last loss", loss.item(), "mean length", sum(map(len, games)) / len(games))
