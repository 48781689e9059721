"""Mutual information between skill and action: the entropy given the skill falls, the one of the mixture rises."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4 + 3, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
skills = torch.eye(3)
for _ in range(14):
    obs, advantage = torch.randn(16, 4), torch.randn(16)
    given = [Categorical(logits=policy(torch.cat([obs, skill.expand(16, 3)], -1))) for skill in skills]
    mixture = Categorical(probs=torch.stack([d.probs for d in given]).mean(0))
    chosen = given[int(torch.randint(3, ()))]
    score = chosen.log_prob(chosen.sample())
    information = mixture.entropy() - torch.stack([d.entropy() for d in given]).mean(0)
    loss = -(score * advantage).mean() - 0.1 * information.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
