"""The novelty bonus of a trained predictor enters the return with its graph, so the policy's loss trains the
predictor as well.
Repaired here.

Class: weights
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(191)
policy = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 4))
value = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
oracle = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 8)).requires_grad_(False)
predictor = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 8))
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters(), *predictor.parameters()], lr=2e-3)


def novelty(obs):
    return (predictor(obs) - oracle(obs)).pow(2).mean(-1)


def discounted(rewards, gamma=0.9):
    running, returns = torch.zeros(rewards.shape[1]), []
    for reward in rewards.flip(0):
        running = reward + gamma * running
        returns.append(running)
    return torch.stack(returns[::-1])


for iteration in range(60):
    obs = torch.randn(8, 16, 5)
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    extrinsic = (action == obs[..., :4].argmax(-1)).float()
    intrinsic = novelty(obs)
    returns = discounted(extrinsic + 0.5 * intrinsic.detach())
    estimate = value(obs).squeeze(-1)
    advantage = returns - estimate.detach()
    policy_loss = -(dist.log_prob(action) * advantage).mean()
    value_loss = (estimate - returns.detach()).pow(2).mean()
    loss = policy_loss + 0.5 * value_loss + intrinsic.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", extrinsic.mean().item(), "novelty", intrinsic.mean().item())
