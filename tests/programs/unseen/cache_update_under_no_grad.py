"""The key-value cache's update is decorated to run without gradients and hands back what attention reads, so
keys and values are not trained.

Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(409)
VOCAB, WIDTH, LENGTH = 12, 16, 6


class Cache:
    def __init__(self):
        self.keys = self.values = None

    @torch.no_grad()  # BUG GS202
    def update(self, key, value):
        if self.keys is not None:
            key, value = torch.cat([self.keys, key], 1), torch.cat([self.values, value], 1)  # BUG GS202
        self.keys, self.values = key, value
        return key, value


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, token, cache):
        x = self.embed(token).unsqueeze(1)
        keys, values = cache.update(self.key(x), self.value(x))
        attended = F.scaled_dot_product_attention(self.query(x), keys, values)
        return self.head((x + attended).squeeze(1))


model = Decoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for update in range(60):
    tokens = torch.randint(0, VOCAB, (32, LENGTH))
    cache, loss = Cache(), torch.zeros(())
    for t in range(LENGTH):
        logits = model(tokens[:, t], cache)
        loss = loss + F.cross_entropy(logits, tokens[:, max(t - 1, 0)]) / LENGTH
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
