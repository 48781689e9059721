"""SAC in one file: `sum()` without an axis adds up the log-probs of the whole batch."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(8)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 4))
q1 = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
q2 = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=1e-3)
alpha = 0.2


def sample(state):
    mean, log_std = actor(state).chunk(2, -1)
    normal = torch.distributions.Normal(mean, log_std.clamp(-20, 2).exp())
    u = normal.rsample()
    action = torch.tanh(u)
    log_prob = normal.log_prob(u) - torch.log(1 - action.pow(2) + 1e-6)
    return action, log_prob.sum()  # BUG GS603


for step in range(30):
    state, following = torch.randn(64, 3), torch.randn(64, 3)
    action, reward = torch.rand(64, 2) * 2 - 1, torch.randn(64, 1)
    with torch.no_grad():
        following_action, following_log_prob = sample(following)
        pair = torch.cat([following, following_action], 1)
        target = reward + 0.99 * (torch.min(q1(pair), q2(pair)) - alpha * following_log_prob)
    pair = torch.cat([state, action], 1)
    critic_loss = F.mse_loss(q1(pair), target) + F.mse_loss(q2(pair), target)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    new_action, log_prob = sample(state)
    pair = torch.cat([state, new_action], 1)
    actor_loss = (alpha * log_prob - torch.min(q1(pair), q2(pair))).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
