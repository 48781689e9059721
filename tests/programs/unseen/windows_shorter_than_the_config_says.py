"""Gradient accumulation over four micro-batches, and the loss is divided by four. An epoch has ten: the last window is
stepped after two, with half of its gradient.

Round 23
Class: llm-rl
"""

import argparse

import torch
from torch import nn

torch.manual_seed(2303)
parser = argparse.ArgumentParser()
parser.add_argument("--accumulate", type=int, default=4)
parser.add_argument("--micro-batch", type=int, default=4)
parser.add_argument("--epochs", type=int, default=12)
args = parser.parse_args([])

VOCAB, LENGTH, WIDTH = 11, 8, 20
data = torch.randint(0, VOCAB, (40, LENGTH + 1))
data[:, 1:] = (data[:, :1] + torch.arange(1, LENGTH + 1)) % VOCAB


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        return x + self.mix(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, WIDTH), nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.1)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        return self.head(self.blocks(self.tok(ids) + self.pos[: ids.shape[1]]))


model = LM()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(args.epochs):
    batches = data[torch.randperm(len(data))].split(args.micro_batch)
    for index, batch in enumerate(batches):
        logits = model(batch[:, :-1])
        loss = criterion(logits.transpose(1, 2), batch[:, 1:])
        loss = loss / args.accumulate  # BUG GS407
        loss.backward()
        if (index + 1) % args.accumulate == 0 or index + 1 == len(batches):
            optimizer.step()
            optimizer.zero_grad()
