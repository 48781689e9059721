"""A shared masked mean is right; one of its two callers hands it a mask per sequence where one per token is
meant, and as many sequences as tokens hide it.
Repaired here.

Class: the line
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(311)
BATCH = LENGTH = 8
VOCAB = 12


def masked_mean(values, mask):
    return (values * mask).sum() / (mask.expand_as(values).sum() + 1e-8)


class ActorCritic(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.policy, self.value = nn.Linear(width, VOCAB), nn.Linear(width, 1)

    def forward(self, tokens):
        hidden = self.rnn(self.embed(tokens))[0]
        return F.log_softmax(self.policy(hidden), -1), self.value(hidden).squeeze(-1)


def batch():
    tokens = torch.randint(0, VOCAB, (BATCH, LENGTH))
    finished = (torch.rand(BATCH) < 0.7).float()
    finished[0] = 1.0
    lengths = torch.randint(3, LENGTH + 1, (BATCH, 1))
    return tokens, finished, (torch.arange(LENGTH) < lengths).float()


model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for update in range(80):
    tokens, finished, token_mask = batch()
    log_probs, values = model(tokens)
    answer = (tokens + 1) % VOCAB
    chosen = log_probs.gather(-1, answer.unsqueeze(-1)).squeeze(-1)
    returns = tokens.float() / VOCAB
    advantage = (1.0 + returns - values).detach()
    policy_loss = -masked_mean(chosen * advantage, token_mask)
    value_loss = masked_mean((values - returns).pow(2), finished.unsqueeze(1))
    loss = policy_loss + value_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
