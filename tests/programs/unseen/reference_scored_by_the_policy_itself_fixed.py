"""A KL penalty against the frozen base: the adapter was to be switched off for the reference and is not, and the
gradient flows through both.
Repaired here.

Round 3
Class: llm-rl
"""

import contextlib

import torch
from torch import nn

torch.manual_seed(318)


class Adapted(nn.Module):
    def __init__(self, vocab=14, dim=20):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.base = nn.Linear(dim, vocab)
        self.down = nn.Linear(dim, 2, bias=False)
        self.up = nn.Linear(2, vocab, bias=False)
        self.enabled = True
        for p in (*self.embed.parameters(), *self.base.parameters()):
            p.requires_grad_(False)

    def forward(self, ids):
        hidden = torch.tanh(self.embed(ids).cumsum(1))
        logits = self.base(hidden)
        return logits + self.up(self.down(hidden)) if self.enabled else logits

    @contextlib.contextmanager
    def disabled(self):
        self.enabled = False
        yield
        self.enabled = True


def token_log_probs(model, ids):
    return torch.log_softmax(model(ids[:, :-1]), -1).gather(-1, ids[:, 1:, None]).squeeze(-1)


model = Adapted()
optimizer = torch.optim.AdamW([*model.down.parameters(), *model.up.parameters()], lr=3e-3)
for step in range(40):
    ids = torch.randint(14, (8, 10))
    reward = (ids[:, 1:] % 3 == 0).float()
    new = token_log_probs(model, ids)
    with model.disabled():
        reference = token_log_probs(model, ids)
    kl = (reference - new).exp() - (reference - new) - 1
    loss = (-(new * (reward - reward.mean())) + 0.05 * kl).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
