"""Population-based training: the worst members copy the best one's weights, again and again."""

import torch
from torch import nn

torch.manual_seed(0)
members = [nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2)) for _ in range(3)]
optimizers = [torch.optim.Adam(m.parameters(), lr=1e-3) for m in members]
for generation in range(8):
    for member, optimizer in zip(members, optimizers):
        for _ in range(2):
            obs, action, advantage = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16)
            log_prob = torch.distributions.Categorical(logits=member(obs)).log_prob(action)
            optimizer.zero_grad()
            (-(log_prob * advantage).mean()).backward()
            optimizer.step()
    if generation in (2, 4, 6):
        members[2].load_state_dict(members[0].state_dict())
