"""A critic with one head per task: the mask is made of a task number that was limited by one too few.

Round 8
Class: zero in part
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(805)
TASKS = 4


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
        self.heads = nn.Linear(32, TASKS)

    def forward(self, obs, task):
        which = F.one_hot(task.clamp(max=TASKS - 2), TASKS).float()  # BUG GS208
        return (self.heads(self.body(obs)) * which).sum(-1)  # BUG GS208


critic = MultiTask()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(150):
    obs, task = torch.randn(48, 6), torch.randint(TASKS, (48,))
    returns = obs[:, 0] * (task + 1)
    loss = F.mse_loss(critic(obs, task), returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
