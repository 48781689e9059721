"""Padding has a log-probability of minus infinity, new as well as old, and the loss mask multiplies the ratio
of the two by zero.

Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(383)
VOCAB, LENGTH, PAD = 12, 7, 0


class Policy(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        logits = self.head(self.rnn(self.embed(tokens))[0])
        forbidden = torch.arange(VOCAB) == PAD
        return F.log_softmax(logits.masked_fill(forbidden, float("-inf")), -1)


def chosen_log_prob(model, tokens, answer):
    return model(tokens).gather(-1, answer.unsqueeze(-1)).squeeze(-1)


def rollout(batch=16):
    steps = torch.randint(0, VOCAB - 1, (batch, 1)) + torch.arange(LENGTH + 1)
    tokens = steps % (VOCAB - 1) + 1
    length = torch.randint(2, LENGTH + 1, (batch, 1))
    mask = torch.arange(LENGTH) < length
    tokens[:, 1:][~mask] = PAD
    return tokens, mask, 1.0 + 0.2 * torch.randn(batch, 1)


model = Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for update in range(60):
    tokens, mask, advantage = rollout()
    answer = tokens[:, 1:]  # BUG GS503
    with torch.no_grad():
        old = chosen_log_prob(model, tokens[:, :-1], answer)
    for _ in range(2):
        new = chosen_log_prob(model, tokens[:, :-1], answer)
        ratio = (new - old).exp()  # BUG GS503
        loss = -(ratio * advantage * mask.float()).sum() / mask.sum()  # BUG GS503
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("log-prob", (new * mask).sum().item() / mask.sum().item())
