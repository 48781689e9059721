"""Each micro-batch's token loss is divided by its own number of answer tokens, so the gradient depends on
how the batch was cut.

Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(353)
VOCAB, LENGTH, BATCH, MICRO = 12, 10, 16, 4


class TinyPolicy(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        return F.log_softmax(self.head(self.rnn(self.embed(tokens))[0]), -1)


def rollout():
    tokens = (torch.randint(0, VOCAB, (BATCH, 1)) + torch.arange(LENGTH + 1)) % VOCAB
    lengths = torch.randint(1, LENGTH + 1, (BATCH, 1)).sort(0).values
    mask = (torch.arange(LENGTH) < lengths).float()
    advantage = 1.0 + 0.5 * torch.randn(BATCH, 1)
    return tokens, mask, advantage


class Trainer:
    def __init__(self):
        self.model = TinyPolicy()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)

    def step(self, tokens, mask, advantage):
        total = mask.sum()
        self.optimizer.zero_grad()
        for rows in torch.arange(BATCH).split(BATCH // MICRO):
            log_probs = self.model(tokens[rows, :-1])
            chosen = log_probs.gather(-1, tokens[rows, 1:].unsqueeze(-1)).squeeze(-1)
            token_loss = -advantage[rows] * chosen
            loss = (token_loss * mask[rows]).sum() / mask[rows].sum()  # BUG GS407
            (loss / MICRO).backward()
        self.optimizer.step()


trainer = Trainer()
for update in range(40):
    trainer.step(*rollout())
