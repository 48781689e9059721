"""A low-rank adapter whose two factors both start at zero: each one's gradient is a product with the other.

Class: zero in part
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(59)


class LowRank(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.zeros(rank, base.in_features))  # BUG GS208
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))  # BUG GS208

    def forward(self, x):
        return self.base(x) + (x @ self.down.T) @ self.up.T  # BUG GS208


class Policy(nn.Module):
    def __init__(self, vocab=16, width=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, width).requires_grad_(False)
        self.middle = LowRank(nn.Linear(width, width))
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        return self.head(torch.tanh(self.middle(self.embed(tokens))))


policy = Policy()
trainable = [p for p in policy.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trainable, lr=1e-2, weight_decay=0.0)
for update in range(100):
    prompt = torch.randint(0, 16, (64,))
    dist = torch.distributions.Categorical(logits=policy(prompt))
    token = dist.sample()
    reward = (token == (prompt * 5 + 1) % 16).float()
    advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
    loss = -(advantage * dist.log_prob(token)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", reward.mean().item())
