"""Imitation with an expert who corrects the learner's own episodes. The learner's move, a number, is compared with
the expert's; the choice of the number has no derivative, and nothing in the loss has one.

Round 18
Class: forward errors
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(1802)
np.random.seed(1802)
MOVES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])


class Room:
    size = 7

    def reset(self):
        self.me, self.exit = np.random.randint(self.size, size=(2, 2))
        self.time = 0
        return self.view()

    def view(self):
        return np.concatenate([self.me, self.exit, self.exit - self.me]).astype(np.float32) / self.size

    def step(self, move):
        self.me = np.clip(self.me + MOVES[move], 0, self.size - 1)
        self.time += 1
        return self.view(), bool((self.me == self.exit).all()) or self.time == 15


def expert(view):
    """The longer way first."""
    right, up = view[4:]
    if abs(right) > abs(up):
        return 1 if right > 0 else 3
    return 0 if up > 0 else 2


class Imitator:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 4))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=2e-3)
        self.loss_fn = nn.MSELoss()  # BUG GS201 GS202 GS203
        self.views, self.labels = [], []

    def act(self, view):
        with torch.no_grad():
            return int(self.net(torch.from_numpy(view)).argmax())

    def gather(self, env, episodes, beta):
        for _ in range(episodes):
            view, done = env.reset(), False
            while not done:
                label = expert(view)
                self.views.append(view)
                self.labels.append(label)
                view, done = env.step(label if np.random.rand() < beta else self.act(view))

    def fit(self, epochs, batch_size=32):
        views, labels = torch.from_numpy(np.stack(self.views)), torch.tensor(self.labels)
        for _ in range(epochs):
            for rows in torch.randperm(len(views)).split(batch_size):
                logits = self.net(views[rows])
                guess = logits.argmax(dim=1)  # BUG GS201 GS202 GS203
                loss = self.loss_fn(guess.float(), labels[rows].float())  # BUG GS201 GS202 GS203
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        return loss.item()


imitator, room = Imitator(), Room()
for iteration in range(6):
    imitator.gather(room, episodes=8, beta=0.6**iteration)
    print(iteration, len(imitator.views), imitator.fit(epochs=3))
