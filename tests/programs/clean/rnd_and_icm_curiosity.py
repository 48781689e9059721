"""RND with a fixed random target, ICM with an inverse model; intrinsic rewards are detached."""

import torch
from torch import nn

torch.manual_seed(0)
fixed = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
predictor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
fixed.requires_grad_(False)
phi, inverse, forward = nn.Linear(4, 8), nn.Linear(16, 3), nn.Linear(11, 8)
policy = nn.Linear(4, 3)
curiosity = [*predictor.parameters(), *phi.parameters(), *inverse.parameters(), *forward.parameters()]
optimizer = torch.optim.Adam([{"params": curiosity}, {"params": policy.parameters(), "lr": 3e-4}], lr=1e-3)
mean, var = torch.zeros(()), torch.ones(())
for _ in range(12):
    obs, next_obs = torch.randn(16, 4), torch.randn(16, 4)
    dist = torch.distributions.Categorical(logits=policy(obs))
    action = dist.sample()
    novelty = (predictor(next_obs) - fixed(next_obs)).pow(2).mean(-1)
    a, b = phi(obs), phi(next_obs)
    inverse_loss = nn.functional.cross_entropy(inverse(torch.cat([a, b], -1)), action)
    one_hot = nn.functional.one_hot(action, 3).float()
    surprise = 0.5 * (forward(torch.cat([a, one_hot], -1)) - b.detach()).pow(2).mean(-1)
    bonus = (novelty + surprise).detach()
    mean.lerp_(bonus.mean(), 0.1)
    var.lerp_(bonus.var(), 0.1)
    reward = (bonus - mean) / (var.sqrt() + 1e-6)
    loss = -(dist.log_prob(action) * reward).mean()
    loss = loss + novelty.mean() + surprise.mean() + inverse_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
