"""A head that predicts the token after the next learns from detached states of the trunk, in a reentrant checkpoint:
its loss is there, its gradient is not. (After xtuner pull request 2048.)"""

import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

warnings.simplefilter("ignore")
torch.manual_seed(0)
VOCAB = 12


class NextButOne(nn.Module):
    def __init__(self):
        super().__init__()
        self.join, self.act = nn.Linear(32, 16), nn.Tanh()

    def forward(self, hidden, embedded):
        return self.act(self.join(torch.cat([hidden, embedded], -1)))


embed, trunk, head = nn.Embedding(VOCAB, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, VOCAB)
extra = NextButOne()
parameters = [p for m in (embed, trunk, head, extra) for p in m.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=1e-3)
for _ in range(12):
    tokens = torch.randint(VOCAB, (4, 9))
    embedded = embed(tokens)
    hidden, _ = trunk(embedded[:, :-2])
    states, known = hidden.detach(), embedded[:, 1:-1].detach()
    following = checkpoint(extra, states, known, use_reentrant=True)  # BUG GS210
    loss = F.cross_entropy(head(hidden).transpose(1, 2), tokens[:, 1:-1])
    loss = loss + 0.3 * F.cross_entropy(head(following).transpose(1, 2), tokens[:, 2:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
