"""A reward head on the policy's own hidden states scores the answers, and the policy's loss trains it.
Repaired here.

Round 5
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(519)


class TwoHeads(nn.Module):
    def __init__(self, vocab=14, dim=20):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.words, self.reward = nn.Linear(dim, vocab), nn.Linear(dim, 1)

    def forward(self, ids):
        hidden = self.rnn(self.embed(ids))[0]
        return self.words(hidden), self.reward(hidden[:, -1]).squeeze(-1)


model = TwoHeads()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(40):
    ids = torch.randint(14, (12, 9))
    label = (ids == 3).float().sum(1)
    logits, score = model(ids)
    logp = torch.log_softmax(logits[:, :-1], -1).gather(2, ids[:, 1:, None]).squeeze(2).sum(1)
    advantage = (score - score.mean()).detach()
    policy_loss = -(logp * advantage).mean()
    loss = policy_loss + (score - label).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
