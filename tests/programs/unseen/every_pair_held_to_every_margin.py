"""A reward model learns from pairs of answers that come with a margin, how much better one is. The head
gives a column of scores and the margins are a plain row, so that each pair is compared with the margins of
the whole batch.

Round 32
Class: llm-rl
"""

import random

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD = 0
VOCAB = 30


class Preferences(Dataset):
    """Answers to made-up prompts; the better one holds more words from the upper third of the dictionary."""

    def __init__(self, size, seed):
        rng = random.Random(seed)
        self.items = []
        while len(self.items) < size:
            prompt = [rng.randrange(1, VOCAB) for _ in range(3)]
            first, second = ([rng.randrange(1, VOCAB) for _ in range(rng.randint(3, 8))] for _ in range(2))
            gap = self.quality(first) - self.quality(second)
            if gap == 0:
                continue
            chosen, rejected = (first, second) if gap > 0 else (second, first)
            self.items.append((prompt + chosen, prompt + rejected, abs(gap)))

    @staticmethod
    def quality(answer):
        return 4 * sum(word >= 20 for word in answer) / len(answer)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def collate(items):
    chosen, rejected, margins = zip(*items)
    rows = [torch.tensor(row) for row in chosen + rejected]
    return {
        "input_ids": pad_sequence(rows, batch_first=True, padding_value=PAD),
        "lengths": torch.tensor([len(row) for row in rows]),
        "margin": torch.tensor(margins, dtype=torch.float32),  # BUG GS601
    }


class RewardModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.encoder = nn.GRU(dim, dim, num_layers=2, batch_first=True)
        self.score = nn.Linear(dim, 1, bias=False)

    def forward(self, input_ids, lengths):
        hidden, _ = self.encoder(self.embed(input_ids))
        last = hidden[torch.arange(len(hidden)), lengths - 1]
        return self.score(last)  # BUG GS601


def compute_loss(model, batch):
    rewards = model(batch["input_ids"], batch["lengths"])
    chosen, rejected = rewards.chunk(2)
    loss = -F.logsigmoid(chosen - rejected - batch["margin"]).mean()  # BUG GS601
    return loss, (chosen > rejected).float().mean()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    results = [compute_loss(model, batch) for batch in loader]
    model.train()
    return [torch.stack(column).mean().item() for column in zip(*results)]


def main():
    torch.manual_seed(3206)
    train_loader = DataLoader(
        Preferences(384, seed=1),
        batch_size=32,
        shuffle=True,
        collate_fn=collate,
        generator=torch.Generator().manual_seed(0),
    )
    eval_loader = DataLoader(Preferences(64, seed=2), batch_size=32, collate_fn=collate)
    model = RewardModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    epochs = 5
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * len(train_loader))
    for epoch in range(epochs):
        for batch in train_loader:
            loss, _ = compute_loss(model, batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        eval_loss, accuracy = evaluate(model, eval_loader)
        print(f"epoch {epoch}: loss {loss.item():.4f} eval loss {eval_loss:.4f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
