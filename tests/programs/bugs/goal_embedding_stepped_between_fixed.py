"""Goal-conditioned twin critics: the goal moves between the second loss and its backward, and is stepped on both."""

import torch
from torch import nn

torch.manual_seed(0)


class GoalCritic(nn.Module):
    def __init__(self, goal):
        super().__init__()
        self.goal = [goal]
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))

    def loss(self, obs, returns):
        return (self.net(obs + self.goal[0]).squeeze(-1) - returns).pow(2).mean()


goal = nn.Parameter(torch.zeros(6))
near, far = GoalCritic(goal), GoalCritic(goal)
near_optimizer = torch.optim.SGD([goal, *near.parameters()], lr=1e-2)
far_optimizer = torch.optim.SGD(far.parameters(), lr=1e-2)
for _ in range(12):
    obs, returns = torch.randn(16, 6), torch.randn(16)
    near_loss, far_loss = near.loss(obs, returns), far.loss(obs, returns)
    near_loss.backward()
    far_loss.backward()
    near_optimizer.step()
    far_optimizer.step()
    near_optimizer.zero_grad()
    far_optimizer.zero_grad()
