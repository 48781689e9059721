"""A token policy with the divergence inside its reward: the advantage is made of the policy's own live log-probs.

Round 4
Class: weights
"""

import copy

import torch
from torch import nn

torch.manual_seed(418)


class TinyLM(nn.Module):
    def __init__(self, vocab=12, dim=20):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


def log_probs(model, ids):
    return torch.log_softmax(model(ids[:, :-1]), -1).gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)


policy = TinyLM()
reference = copy.deepcopy(policy).requires_grad_(False)
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for update in range(40):
    ids = torch.randint(12, (12, 8))
    logp = log_probs(policy, ids)
    with torch.no_grad():
        ref = log_probs(reference, ids)
    score = (ids[:, 1:] == 3).float().sum(1)
    reward = score - 0.1 * (logp - ref).sum(1)  # BUG GS303
    advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
    loss = -(logp.sum(1) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
