"""Double Q-learning picks the best action with an `argmax` that has no axis: one action for everybody.

Round 6
Class: axes
"""

import copy

import torch
from torch import nn

torch.manual_seed(607)


class DoubleDQN:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 4))
        self.old = copy.deepcopy(self.q).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3)

    def goal(self, reward, after):
        with torch.no_grad():
            values = self.q(after)
            best = values.max().expand(len(after))  # BUG GS604
            return reward + 0.95 * best

    def learn(self, obs, action, reward, after):
        chosen = self.q(obs).gather(1, action.unsqueeze(1)).squeeze(1)
        loss = (chosen - self.goal(reward, after)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for new, old in zip(self.q.parameters(), self.old.parameters()):
            old.data.mul_(0.95).add_(new.data, alpha=0.05)


agent = DoubleDQN()
for _ in range(50):
    obs = torch.randn(32, 5)
    agent.learn(obs, torch.randint(4, (32,)), obs[:, 0], obs + 0.1 * torch.randn(32, 5))
