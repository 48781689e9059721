"""When the world model has converged it is to be frozen; the call freezes the policy.
Repaired here.

Round 5
Class: late and rare
"""

import torch
from torch import nn

torch.manual_seed(511)

model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))
policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
model_optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
learning_model = True
for update in range(140):
    obs = torch.randn(32, 4)
    if learning_model:
        action = torch.rand(32, 2) * 2 - 1
        after = obs + 0.1 * torch.cat([action, -action], 1)
        model_loss = (model(torch.cat([obs, action], 1)) - after).pow(2).mean()
        model_optimizer.zero_grad()
        model_loss.backward()
        model_optimizer.step()
    if update == 60:
        learning_model = False
        model.requires_grad_(False)
    action = policy(obs)
    imagined = model(torch.cat([obs, action], 1))
    policy_loss = imagined.pow(2).mean() + 0.01 * action.pow(2).mean()
    policy_optimizer.zero_grad()
    policy_loss.backward()
    policy_optimizer.step()
