"""A token policy attends to the hidden states of earlier segments, which it keeps live, and retains each
graph to get past the error.
Repaired here.

Class: stays alive
"""

from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(127)
VOCAB, WIDTH, SEGMENT = 12, 16, 8


class SegmentPolicy(nn.Module):
    def __init__(self, memory=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.attend = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCAB)
        self.memory = deque(maxlen=memory)

    def forward(self, tokens):
        x = self.embed(tokens)
        context = torch.cat([*self.memory, x], 1)
        hidden = x + self.attend(x, context, context, need_weights=False)[0]
        self.memory.append(hidden.detach())
        return self.head(hidden)


policy = SegmentPolicy()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.2)
for episode in range(10):
    policy.memory.clear()
    for segment in range(6):
        tokens = torch.randint(0, VOCAB, (4, SEGMENT))
        logits = policy(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1), ((tokens + 1) % VOCAB).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("loss", loss.item())
