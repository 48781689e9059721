"""The log-prob helper normalises the logits in place to save memory; the entropy and its own backward need them.

Round 2
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(239)


class TinyLM(nn.Module):
    def __init__(self, vocab=16, dim=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


def token_log_probs(logits, labels):
    logits.sub_(logits.logsumexp(-1, keepdim=True))  # BUG GS101
    return logits.gather(-1, labels.unsqueeze(-1)).squeeze(-1)


def entropy(logits):
    p = torch.softmax(logits, -1)
    return torch.logsumexp(logits, -1) - (p * logits).sum(-1)


model = TinyLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(20):
    ids = torch.randint(16, (6, 12))
    logits = model(ids[:, :-1])
    log_probs = token_log_probs(logits, ids[:, 1:])
    advantage = torch.randn(6, 1)
    loss = -(log_probs * advantage).mean() - 0.01 * entropy(logits).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
