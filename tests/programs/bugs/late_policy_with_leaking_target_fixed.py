"""The critic starts after 20 updates of the model, and its target is live: a bug that starts late."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 4)
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1), nn.Flatten(0))
model_optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


def fit_model(obs, action, next_obs):
    loss = (model(torch.cat([obs, action], -1)) - next_obs).pow(2).mean()
    model_optimizer.zero_grad()
    loss.backward()
    model_optimizer.step()


def fit_critic(obs, reward, next_obs):
    wanted = reward + 0.9 * critic(next_obs).detach()
    loss = nn.functional.mse_loss(critic(obs), wanted)
    critic_optimizer.zero_grad()
    loss.backward()
    critic_optimizer.step()


for update in range(45):
    obs, action, next_obs = torch.randn(16, 4), torch.randn(16, 1), torch.randn(16, 4)
    fit_model(obs, action, next_obs)
    if update >= 25:
        fit_critic(obs, torch.randn(16), next_obs)
