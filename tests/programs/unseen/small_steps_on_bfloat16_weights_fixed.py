"""The policy is kept in bfloat16 and trained with a tiny learning rate: the updates are smaller than the
spacing of the weights and vanish.
Repaired here.

Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(379)
VOCAB = 12


class Policy(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.body = nn.Linear(width, width)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        return self.head(torch.tanh(self.body(self.embed(tokens))))


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-4)
for update in range(200):
    prompt = torch.randint(0, VOCAB, (64,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = policy(prompt).float()
    dist = torch.distributions.Categorical(logits=logits)
    token = dist.sample()
    reward = (token == (prompt + 1) % VOCAB).float()
    advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
    loss = -(advantage * dist.log_prob(token)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", reward.mean().item())
