"""After hundreds of updates a tournament clones the better agent; the clone is given the parent's optimizer."""

import torch
from torch import nn

torch.manual_seed(0)


class Agent:
    def __init__(self, index):
        self.index = index
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
        self.optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.score = 0.0

    def clone(self, index):
        child = Agent(index)
        child.actor.load_state_dict(self.actor.state_dict())  # BUG GS205 GS206
        child.optimizer = self.optimizer  # BUG GS205 GS206 GS404
        return child

    def learn(self):
        obs, action, weight = torch.randn(32, 4), torch.randint(2, (32,)), torch.randn(32)
        log_prob = torch.log_softmax(self.actor(obs), -1).gather(1, action[:, None]).squeeze(1)
        loss = -(log_prob * weight).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()  # BUG GS404
        self.score = -loss.item()


population = [Agent(i) for i in range(2)]
for generation in range(4):
    for _ in range(150):
        for agent in population:
            agent.learn()
    best = max(population, key=lambda agent: agent.score)
    population = [best, best.clone(len(population))]
