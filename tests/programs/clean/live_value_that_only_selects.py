"""Live values that are used as a mask, an index and a branch: nothing flows through them."""

import torch
from torch import nn

torch.manual_seed(0)
gate = nn.Linear(4, 3)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
gate_optimizer = torch.optim.Adam(gate.parameters(), lr=1e-3)
for _ in range(12):
    obs, wanted, returns = torch.randn(16, 4), torch.randn(16), torch.randn(16)
    scores = gate(obs)
    chosen = q(obs).gather(1, scores.argmax(1, keepdim=True)).squeeze(1)
    keep = scores.amax(1) > -5.0
    error = (chosen - wanted)[keep]
    loss = error.pow(2).mean()
    if loss > 1e6:
        loss = loss * 0.1
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    dist = torch.distributions.Categorical(logits=scores)
    gate_loss = -(dist.log_prob(scores.argmax(1)) * returns).mean()
    gate_optimizer.zero_grad()
    gate_loss.backward()
    gate_optimizer.step()
