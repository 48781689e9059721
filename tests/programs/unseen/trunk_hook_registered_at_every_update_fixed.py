"""A dueling network scales the gradient of its trunk by a hook, and registers the hook anew in every update: the factors
multiply, and the trunk gets less and less.
Repaired here.

Round 12
Class: gradients by hand
"""

import math
import random
from collections import deque

import torch
from torch import nn

torch.manual_seed(1202)
random.seed(1202)


class Dueling(nn.Module):
    def __init__(self, actions=4):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.value = nn.Linear(32, 1)
        self.advantage = nn.Linear(32, actions)

    def forward(self, obs):
        hidden = self.trunk(obs)
        advantage = self.advantage(hidden)
        return self.value(hidden) + advantage - advantage.mean(-1, keepdim=True)


class Learner:
    def __init__(self):
        self.online, self.target = Dueling(), Dueling()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.memory = deque(maxlen=400)
        self.updates = 0
        self.soften_trunk()

    def soften_trunk(self):
        for weight in self.online.trunk.parameters():
            weight.register_hook(lambda grad: grad / math.sqrt(2))

    def update(self):
        obs, action, reward, after = map(torch.stack, zip(*random.sample(self.memory, 32)))
        with torch.no_grad():
            best = self.online(after).argmax(1, keepdim=True)
            goal = reward + 0.9 * self.target(after).gather(1, best).squeeze(1)
        taken = self.online(obs).gather(1, action.unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(taken, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % 20 == 0:
            self.target.load_state_dict(self.online.state_dict())


learner = Learner()
obs = torch.randn(5)
for step in range(200):
    if random.random() < 0.2:
        action = torch.tensor(random.randrange(4))
    else:
        with torch.no_grad():
            action = learner.online(obs).argmax()
    after = 0.9 * obs.roll(int(action)) + 0.4 * torch.randn(5)
    learner.memory.append((obs, action, after[0] - after[1].abs(), after))
    obs = after
    if len(learner.memory) >= 40:
        learner.update()
print("updates", learner.updates)
