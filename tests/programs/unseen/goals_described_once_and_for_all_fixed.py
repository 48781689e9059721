"""Values that depend on a goal, with relabelled goals. The descriptions of the few goals are kept once they were
computed, and the first to compute them is the actor, which does so without gradients: the encoder of goals never learns.
Repaired here.

Round 16
Class: the line
"""

import copy
import random

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1609)
random.seed(1609)
CELLS, ACTIONS, LENGTH, GAMMA = 6, 3, 5, 0.9
MAPS = torch.stack([torch.roll(torch.linspace(1, 0, CELLS), cell) for cell in range(CELLS)])


class GoalValues(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(CELLS, 16), nn.Tanh(), nn.Linear(16, 8))
        self.body = nn.Sequential(nn.Linear(CELLS + 8, 32), nn.ReLU(), nn.Linear(32, ACTIONS))

    def describe(self, goals):
        return self.encoder(MAPS[goals])

    def forward(self, cells, goals):
        place = F.one_hot(cells, CELLS).float()
        return self.body(torch.cat([place, self.describe(goals)], -1))


class Episode:
    def __init__(self, goal):
        self.goal, self.steps = goal, []

    def transitions(self):
        """As it was, and once more with the goal that was reached by chance."""
        reached = self.steps[-1][2]
        for goal in (self.goal, reached):
            for cell, action, after in self.steps:
                yield cell, action, after, goal, float(after == goal)


class Agent:
    def __init__(self):
        self.online = GoalValues()
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-2)
        self.memory = []

    @torch.no_grad()
    def act(self, cell, goal, epsilon):
        values = self.online(torch.tensor([cell]), torch.tensor([goal]))
        return random.randrange(ACTIONS) if random.random() < epsilon else values.argmax().item()

    def play(self, goal, epsilon):
        episode, cell = Episode(goal), random.randrange(CELLS)
        for _ in range(LENGTH):
            action = self.act(cell, goal, epsilon)
            after = (cell + action - 1) % CELLS
            episode.steps.append((cell, action, after))
            cell = after
            if cell == goal:
                break
        self.memory.extend(episode.transitions())
        return float(cell == goal)

    def learn(self, size=32):
        rows = random.choices(self.memory, k=size)
        cell, action, after, goal = (torch.tensor(column) for column in list(zip(*rows))[:4])
        reward = torch.tensor([row[4] for row in rows])
        value = self.online(cell, goal).gather(1, action.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            ahead = self.target(after, goal).amax(1)
            target = reward + GAMMA * (1 - reward) * ahead
        loss = F.smooth_l1_loss(value, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent, successes = Agent(), []
for episode in range(150):
    successes.append(agent.play(goal=episode % CELLS, epsilon=max(0.1, 1 - episode / 60)))
    for _ in range(3 if episode >= 30 else 0):
        agent.learn()
    if episode % 10 == 9:
        agent.target.load_state_dict(agent.online.state_dict())
print(f"{sum(successes[:40]) / 40:.2f} → {sum(successes[-40:]) / 40:.2f}")
