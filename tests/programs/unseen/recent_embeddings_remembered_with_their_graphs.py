"""An episodic novelty bonus remembers embeddings in a deque, and every one of them with its graph.

Round 4
Class: stays alive
"""

from collections import deque

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(413)

encoder = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 8))
inverse = nn.Linear(16, 3)
policy = nn.Linear(6, 3)
optimizer = torch.optim.Adam([*encoder.parameters(), *inverse.parameters(), *policy.parameters()], lr=1e-3)
memory = deque(maxlen=200)


def novelty(code):
    if not memory:
        return torch.tensor(1.0)
    seen = torch.stack(list(memory))
    with torch.no_grad():
        return (seen - code).pow(2).sum(-1).topk(min(5, len(seen)), largest=False).values.mean()


obs = torch.randn(6)
for step in range(160):
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    after = torch.randn(6) * 0.5 + obs * 0.5
    code, code_after = encoder(obs), encoder(after)
    bonus = novelty(code_after)
    memory.append(code_after)  # BUG GS305
    guess = inverse(torch.cat([code, code_after]))
    loss = nn.functional.cross_entropy(guess[None], action[None]) - dist.log_prob(action) * (bonus - 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    obs = after
