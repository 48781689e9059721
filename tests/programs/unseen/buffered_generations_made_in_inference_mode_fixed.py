"""The embeddings of the prompts are buffered in inference mode and reused by every iteration of the update.
Repaired here.

Round 5
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(502)


class Policy(nn.Module):
    def __init__(self, vocab=12, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, embedded):
        return self.head(torch.tanh(self.mix(embedded)))


@torch.no_grad()
def generate(policy, prompts):
    embedded = policy.embed(prompts)
    return embedded, torch.multinomial(policy(embedded)[:, -1].softmax(-1), 1)


policy = Policy()
optimizer = torch.optim.AdamW([*policy.mix.parameters(), *policy.head.parameters()], lr=1e-3)
for update in range(10):
    embedded, answer = generate(policy, torch.randint(12, (8, 5)))
    reward = (answer < 6).float().squeeze(1)
    for iteration in range(3):
        logp = torch.log_softmax(policy(embedded)[:, -1], -1).gather(1, answer.clone()).squeeze(1)
        loss = -(logp * (reward - reward.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
