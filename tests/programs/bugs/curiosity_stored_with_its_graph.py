"""The intrinsic reward is stored with the graph of the predictor that it was computed by: the second minibatch goes
through what the first one freed."""

import torch
from torch import nn

torch.manual_seed(0)
policy, predictor, fixed = nn.Linear(3, 2), nn.Linear(3, 4), nn.Linear(3, 4).requires_grad_(False)
optimizer = torch.optim.Adam([*policy.parameters(), *predictor.parameters()], lr=1e-3)

for _ in range(6):
    obs, action, curiosity = torch.randn(16, 3), torch.randint(2, (16,)), torch.zeros(16)
    for step in range(16):
        curiosity[step] = (fixed(obs[step]) - predictor(obs[step])).pow(2).mean()  # BUG GS402
    advantage = curiosity - curiosity.mean()  # BUG GS303
    batched = advantage.reshape(-1)  # BUG GS303
    for chosen in torch.randperm(16).chunk(2):
        log_prob = torch.distributions.Categorical(logits=policy(obs[chosen])).log_prob(action[chosen])
        novelty = (fixed(obs[chosen]) - predictor(obs[chosen])).pow(2).mean()
        loss = -(log_prob * batched[chosen]).mean() + novelty  # BUG GS303
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
