"""The intrinsic reward is a number."""

import torch
from torch import nn

torch.manual_seed(0)
policy, predictor, fixed = nn.Linear(3, 2), nn.Linear(3, 4), nn.Linear(3, 4).requires_grad_(False)
optimizer = torch.optim.Adam([*policy.parameters(), *predictor.parameters()], lr=1e-3)

for _ in range(6):
    obs, action, curiosity = torch.randn(16, 3), torch.randint(2, (16,)), torch.zeros(16)
    for step in range(16):
        curiosity[step] = (fixed(obs[step]) - predictor(obs[step])).pow(2).mean().detach()
    advantage = curiosity - curiosity.mean()
    batched = advantage.reshape(-1)
    for chosen in torch.randperm(16).chunk(2):
        log_prob = torch.distributions.Categorical(logits=policy(obs[chosen])).log_prob(action[chosen])
        novelty = (fixed(obs[chosen]) - predictor(obs[chosen])).pow(2).mean()
        loss = -(log_prob * batched[chosen]).mean() + novelty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
