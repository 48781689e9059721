"""Answers are packed into micro-batches by their tokens: few long ones weigh as much as many short ones.
Repaired here.

Round 12
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1217)
VOCAB, WIDTH, ANSWERS, LONGEST, BUDGET = 20, 32, 12, 16, 40


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.body = nn.Sequential(nn.Conv1d(WIDTH, WIDTH, 3), nn.GELU())
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        x = F.pad(self.embed(ids).transpose(1, 2), (2, 0))
        return self.head(self.body(x).transpose(1, 2))


def answers():
    ids = torch.randint(1, VOCAB, (ANSWERS, LONGEST + 1))
    lengths = torch.randint(3, LONGEST + 1, (ANSWERS,))
    mask = (torch.arange(LONGEST) < lengths[:, None]).float()
    reward = ((ids[:, 1:] < 6).float() * mask).sum(1) / lengths
    others = (reward.sum() - reward) / (ANSWERS - 1)
    return ids, mask, reward - others


def packed(lengths):
    """Rows, shortest answers first, cut whenever the budget of tokens is spent."""
    rows, spent = [], 0
    for row in lengths.argsort().tolist():
        if rows and spent + int(lengths[row]) > BUDGET:
            yield rows
            rows, spent = [], 0
        rows.append(row)
        spent += int(lengths[row])
    yield rows


def answer_losses(model, ids, mask, advantage):
    logp = F.log_softmax(model(ids[:, :-1]), -1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    ratio = (logp - logp.detach()).exp()
    return -(ratio * advantage[:, None] * mask).sum(1) / mask.sum(1)


model = Scorer()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for update in range(40):
    ids, mask, advantage = answers()
    packs = list(packed(mask.sum(1)))
    optimizer.zero_grad()
    for rows in packs:
        losses = answer_losses(model, ids[rows], mask[rows], advantage[rows])
        (losses.sum() / ANSWERS).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
