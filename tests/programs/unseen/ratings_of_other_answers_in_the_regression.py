"""A reward model fitted to ratings: the score head answers with a column, the ratings are flat, and every answer is
compared with the ratings of all.

Round 28
Class: axes
"""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(2823)

VOCAB, WIDTH, LENGTH = 22, 32, 12


class RatedAnswers(Dataset):
    """Raters like low words and answers of a middle length."""

    def __init__(self, n):
        self.lengths = torch.randint(4, LENGTH + 1, (n,))
        inside = torch.arange(LENGTH) < self.lengths[:, None]
        self.ids = torch.randint(1, VOCAB, (n, LENGTH)) * inside
        mean_word = self.ids.sum(1) / self.lengths / VOCAB
        off = (self.lengths - 8).abs() / 8
        self.ratings = 1.5 - 2.0 * mean_word - off + 0.1 * torch.randn(n)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "length": self.lengths[i], "rating": self.ratings[i]}


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.layer = nn.TransformerEncoderLayer(WIDTH, 4, 64, dropout=0.0, batch_first=True)

    def forward(self, ids, lengths):
        padding = torch.arange(LENGTH) >= lengths[:, None]
        x = self.words(ids) + self.places(torch.arange(LENGTH))
        return self.layer(x, src_key_padding_mask=padding)


class RewardModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1))

    def forward(self, ids, lengths):
        hidden = self.encoder(ids, lengths)
        last = hidden[torch.arange(len(ids)), lengths - 1]
        return self.head(last)  # BUG GS601


def train(model, data, epochs=6, lr=1e-3):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    for epoch in range(epochs):
        errors = []
        for batch in DataLoader(data, batch_size=16, shuffle=True):
            scores = model(batch["input_ids"], batch["length"])
            loss = ((scores - batch["rating"]) ** 2).mean()  # BUG GS601
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            errors.append(loss.item())
        print(f"epoch {epoch}: error {sum(errors) / len(errors):.4f}")


train(RewardModel(), RatedAnswers(160))
