"""Multi-task agent: heads are made when a task is first seen, long after the optimizer."""

import torch
from torch import nn

torch.manual_seed(0)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.heads = nn.ModuleDict()
        for task in ("reach", "push"):
            self.heads[task] = nn.Linear(16, 2)

    def forward(self, task, obs):
        return self.heads[task](self.trunk(obs))


agent = MultiTask()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for update in range(24):
    task = ("reach", "push")[update % 2]
    obs, action, advantage = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16)
    log_prob = torch.log_softmax(agent(task, obs), -1).gather(1, action[:, None]).squeeze(1)
    loss = -(log_prob * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
