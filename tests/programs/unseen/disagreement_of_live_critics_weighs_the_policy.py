"""An ensemble's disagreement is to weigh the policy's log-probabilities as a number; it carries gradient into the critics.

Round 10
Class: weights
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1013)


class Ensemble(nn.Module):
    def __init__(self, members=4):
        super().__init__()
        self.members = nn.ModuleList(nn.Linear(6, 1) for _ in range(members))

    def forward(self, obs):
        return torch.cat([m(obs) for m in self.members], -1)


policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 3))
critics = Ensemble()
optimizer = torch.optim.Adam([*policy.parameters(), *critics.parameters()], lr=1e-3)
for update in range(50):
    obs = torch.randn(48, 6)
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    returns = (action == obs[:, :3].argmax(-1)).float()
    values = critics(obs)
    critic_loss = (values - returns[:, None]).pow(2).mean()
    trust = 1.0 / (1.0 + values.std(-1))  # BUG GS303
    advantage = returns - values.mean(-1).detach()
    policy_loss = -(dist.log_prob(action) * advantage * trust).mean()  # BUG GS303
    optimizer.zero_grad()
    (policy_loss + critic_loss).backward()
    optimizer.step()
