"""Sentences of many lengths, learned in four chunks per step; the cross-entropies are divided by the words of the window.

Round 23
Class: llm-rl
"""

import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

random.seed(23)
torch.manual_seed(23)
IGNORE, CHUNKS = -100, 4


class Sentences(Dataset):
    """Counting sentences: every word follows from the one before it."""

    def __init__(self, count=192):
        self.rows = []
        for _ in range(count):
            start, stride = random.randrange(1, 17), random.choice([1, 2, 3])
            self.rows.append([1 + (start + i * stride) % 17 for i in range(random.randint(3, 14))])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return torch.tensor(self.rows[i])


def collate(rows):
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    labels = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=IGNORE)
    return {"input_ids": ids[:, :-1], "labels": labels[:, 1:]}


class WordModel(nn.Module):
    def __init__(self, words=18, width=24):
        super().__init__()
        self.table = nn.Embedding(words, width, padding_idx=0)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, input_ids):
        return self.out(self.rnn(self.table(input_ids))[0])


def main():
    model = WordModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    loader = DataLoader(Sentences(), batch_size=6, shuffle=True, collate_fn=collate)
    for _epoch in range(5):
        chunks = list(loader)
        for begin in range(0, len(chunks), CHUNKS):
            window = chunks[begin : begin + CHUNKS]
            words = sum(int((chunk["labels"] != IGNORE).sum()) for chunk in window)
            for chunk in window:
                logits = model(chunk["input_ids"])
                labels = chunk["labels"].flatten()
                total = F.cross_entropy(logits.flatten(0, 1), labels, ignore_index=IGNORE, reduction="sum")
                (total / words).backward()
            optimizer.step()
            optimizer.zero_grad()


main()
