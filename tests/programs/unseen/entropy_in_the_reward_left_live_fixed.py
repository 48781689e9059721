"""A maximum-entropy actor-critic adds the entropy to the rewards and discounts both, with the entropy's graph.
Repaired here.

Round 5
Class: weights
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(513)


class SoftActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.vf = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))


def discounted(rewards, gamma=0.95):
    total, out = torch.zeros_like(rewards[0]), []
    for reward in reversed(rewards):
        total = reward + gamma * total
        out.insert(0, total)
    return torch.stack(out)


net = SoftActorCritic()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for update in range(40):
    obs = torch.randn(10, 8, 4)
    dist = Categorical(logits=net.pi(obs))
    action = dist.sample()
    plain = (action == obs[..., :3].argmax(-1)).float()
    rewards = plain + 0.05 * dist.entropy().detach()
    returns = discounted(list(rewards))
    value = net.vf(obs).squeeze(-1)
    advantage = returns - value.detach()
    loss = -(dist.log_prob(action) * advantage).mean() + 0.5 * (value - returns.detach()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
