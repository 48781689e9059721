"""Logits of a recurrent policy are [time, environments, actions]; the log-softmax runs over the environments.
Repaired here.

Round 2
Class: axes
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(216)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 24)
        self.logits = nn.Linear(24, 3)

    def forward(self, obs):
        hidden, _ = self.gru(obs)
        return self.logits(hidden)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(40):
    obs = torch.randn(10, 8, 4)
    logits = policy(obs)
    with torch.no_grad():
        action = torch.distributions.Categorical(logits=logits).sample()
    reward = (action == obs[..., :3].argmax(-1)).float()
    returns = reward.flip(0).cumsum(0).flip(0)
    advantage = (returns - returns.mean()) / returns.std()
    log_probs = F.log_softmax(logits, dim=-1)
    chosen = log_probs.gather(-1, action.unsqueeze(-1)).squeeze(-1)
    loss = -(chosen * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
