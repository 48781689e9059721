"""Multi-agent REINFORCE: probabilities of unavailable actions are zeroed after the softmax."""

import torch
from torch import nn

torch.manual_seed(3)


class Policy(nn.Module):
    def __init__(self, obs_dim=6, n_actions=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 16), nn.ReLU(), nn.Linear(16, n_actions))

    def forward(self, obs, available):
        probs = torch.softmax(self.body(obs), dim=-1)
        probs = probs * available
        return probs / probs.sum(-1, keepdim=True)


policy = Policy()
optimizer = torch.optim.RMSprop(policy.parameters(), lr=1e-3)
for _ in range(12):
    obs = torch.randn(5, 3, 6)
    available = torch.ones(5, 3, 4)
    available[..., 2] = 0
    dist = torch.distributions.Categorical(policy(obs, available))
    actions = dist.sample()
    team_return = torch.randn(5, 1)
    loss = -(dist.log_prob(actions) * team_return).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
