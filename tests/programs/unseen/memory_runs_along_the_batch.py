"""A recurrent Q-network reads the last few glimpses of a screen, batch first, through a memory that was made with the
library's default, time first. The shapes fit: the memory goes from sample to sample of the batch, and every window is
read as if its glimpses had nothing to do with each other.

Round 19
Class: axes
"""

import random
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn, optim

BATCH_SIZE, WINDOW, LSTM_MEMORY, GAMMA = 24, 6, 32, 0.9
Transition = namedtuple("Transition", ("window", "action", "reward", "next_window", "done"))


class Flicker:
    """A ball crosses eleven columns, seen every other step; catch it where it comes down."""

    def reset(self):
        self.x, self.v = random.uniform(2, 8), random.choice([-1.0, -0.5, 0.5, 1.0])
        self.hand, self.t = 5.0, 0
        self.seen = deque([self.glimpse()] * WINDOW, maxlen=WINDOW)
        return np.array(self.seen, dtype=np.float32)

    def glimpse(self):
        visible = self.t % 2 == 0
        return [self.x / 10 if visible else 0.0, float(visible), self.hand / 10]

    def step(self, action):
        self.hand = float(np.clip(self.hand + action - 1, 0, 10))
        self.x += self.v
        if not 0 <= self.x <= 10:
            self.v = -self.v
            self.x += 2 * self.v
        self.t += 1
        self.seen.append(self.glimpse())
        return np.array(self.seen, dtype=np.float32), -abs(self.x - self.hand) / 10, self.t == 12


class DRQN(nn.Module):
    def __init__(self, n_features, n_action):
        super().__init__()
        self.embed = nn.Linear(n_features, 16)
        self.lstm = nn.LSTM(16, LSTM_MEMORY, 1)  # BUG GS604
        self.fc1 = nn.Linear(LSTM_MEMORY, 32)
        self.fc2 = nn.Linear(32, n_action)

    def forward(self, x):
        x = torch.relu(self.embed(x))
        out, _ = self.lstm(x)  # BUG GS604
        return self.fc2(torch.relu(self.fc1(out[:, -1])))


class ReplayMemory(deque):
    def draw(self, count):
        batch = Transition(*zip(*random.sample(self, count)))
        return (
            torch.from_numpy(np.stack(batch.window)),
            torch.tensor(batch.action).unsqueeze(1),
            torch.tensor(batch.reward),
            torch.from_numpy(np.stack(batch.next_window)),
            torch.tensor(batch.done, dtype=torch.float32),
        )


def optimise(dqn, target, memory, optimizer):
    windows, actions, rewards, after, dones = memory.draw(BATCH_SIZE)
    q = dqn(windows).gather(1, actions).squeeze(1)
    with torch.no_grad():
        best = target(after).max(1)[0]
    loss = nn.functional.smooth_l1_loss(q, rewards + GAMMA * (1 - dones) * best)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    random.seed(1902)
    torch.manual_seed(1902)
    env, memory = Flicker(), ReplayMemory(maxlen=1000)
    dqn, target = DRQN(3, 3), DRQN(3, 3)
    target.load_state_dict(dqn.state_dict())
    optimizer = optim.Adam(dqn.parameters(), lr=2e-3)
    window, loss = env.reset(), 0.0
    for step in range(240):
        if random.random() < max(0.1, 1 - step / 160):
            action = random.randrange(3)
        else:
            with torch.no_grad():
                action = dqn(torch.from_numpy(window).unsqueeze(0)).argmax(1).item()
        following, reward, done = env.step(action)
        memory.append(Transition(window, action, reward, following, done))
        window = env.reset() if done else following
        if step >= 60 and step % 2 == 0:
            loss = optimise(dqn, target, memory, optimizer)
        if step % 30 == 0:
            target.load_state_dict(dqn.state_dict())
    return loss


print(main())
