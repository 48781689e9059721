"""Two players of a small game learn from one memory, once it is full. The target is to be refreshed every hundred
transitions, counted by the memory's length: that stays what it is, and is no multiple of a hundred.

Round 18
Class: late and rare
"""

import random
from collections import deque

import torch
from torch import nn

random.seed(1813)
torch.manual_seed(1813)


class Nim:
    """Take one to three sticks; who takes the last one wins."""

    sticks = 15

    def new_game(self):
        self.left = self.sticks
        return self.left

    def play(self, take):
        self.left = max(self.left - take, 0)
        return self.left, self.left == 0


def encode(left):
    x = torch.zeros(Nim.sticks + 1)
    x[left] = 1.0
    return x


class QPlayer:
    def __init__(self, memory_size=256, batch_size=32, copy_every=100, gamma=0.95):
        self.batch_size, self.copy_every, self.gamma = batch_size, copy_every, gamma
        self.q_network = nn.Sequential(nn.Linear(Nim.sticks + 1, 48), nn.ReLU(), nn.Linear(48, 3))
        self.q_target = nn.Sequential(nn.Linear(Nim.sticks + 1, 48), nn.ReLU(), nn.Linear(48, 3))
        self.q_target.load_state_dict(self.q_network.state_dict())
        self.optimizer = torch.optim.Adam(self.q_network.parameters(), lr=2e-3)
        self.memory = deque(maxlen=memory_size)
        self.learn_counter = 0

    def select(self, left, epsilon):
        if random.random() < epsilon:
            return random.randint(1, 3)
        with torch.no_grad():
            return self.q_network(encode(left)).argmax().item() + 1

    def remember(self, *transition):
        self.memory.append(transition)

    def learn(self):
        if len(self.memory) < self.memory.maxlen:
            return
        states, moves, rewards, afters, overs = zip(*random.sample(self.memory, self.batch_size))
        x, after = (torch.stack([encode(s) for s in column]) for column in (states, afters))
        rewards, overs = torch.tensor(rewards), torch.tensor(overs, dtype=torch.float32)
        with torch.no_grad():
            theirs = self.q_target(after).amax(1)  # BUG GS307
        goal = rewards - self.gamma * (1 - overs) * theirs
        mine = self.q_network(x).gather(1, torch.tensor(moves)[:, None] - 1).squeeze(1)
        loss = (mine - goal).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.learn_counter += 1
        if len(self.memory) % self.copy_every == 0:  # BUG GS307
            self.q_target.load_state_dict(self.q_network.state_dict())  # BUG GS307


player, game = QPlayer(), Nim()
for round_ in range(130):
    left, over = game.new_game(), False
    while not over:
        take = player.select(left, epsilon=max(0.1, 1 - round_ / 80))
        after, over = game.play(take)
        player.remember(left, take, float(over), after, over)
        left = after
        player.learn()
print(player.learn_counter, "updates; opening:", player.select(Nim.sticks, 0.0))
