"""Training of a reward model on pairs with a margin for each; the margins are laid out as a column like the
scores.

Round 26
Class: llm-rl
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence


@dataclass
class Settings:
    vocab: int = 30
    width: int = 32
    batch_size: int = 12
    steps: int = 60
    lr: float = 2e-3
    seed: int = 2610


class RewardModel(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=0)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.score = nn.Linear(width, 1)

    def forward(self, ids, lengths):
        hidden, _ = self.encoder(self.embed(ids))
        last = hidden[torch.arange(len(ids)), lengths - 1]
        return self.score(last)


def quality(answer):
    return (answer > 15).float().mean().item()


def draw_answer(vocab):
    return torch.randint(1, vocab, (int(torch.randint(3, 9, (1,))),))


def draw_pair(vocab):
    first, second = draw_answer(vocab), draw_answer(vocab)
    while quality(first) == quality(second):
        second = draw_answer(vocab)
    better, worse = (first, second) if quality(first) > quality(second) else (second, first)
    return {"chosen": better, "rejected": worse, "margin": quality(better) - quality(worse)}


def collate(pairs):
    batch = {}
    for side in ("chosen", "rejected"):
        batch[side] = pad_sequence([pair[side] for pair in pairs], batch_first=True)
        batch[f"{side}_lengths"] = torch.tensor([len(pair[side]) for pair in pairs])
    batch["margin"] = torch.tensor([[pair["margin"]] for pair in pairs])
    return batch


class RewardTrainer:
    def __init__(self, settings):
        torch.manual_seed(settings.seed)
        self.s = settings
        self.model = RewardModel(settings.vocab, settings.width)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=settings.lr)

    def compute_loss(self, batch):
        chosen = self.model(batch["chosen"], batch["chosen_lengths"])
        rejected = self.model(batch["rejected"], batch["rejected_lengths"])
        loss = -F.logsigmoid(chosen - rejected - batch["margin"]).mean()
        return loss, (chosen > rejected).float().mean().item()

    def train(self):
        for step in range(self.s.steps):
            batch = collate([draw_pair(self.s.vocab) for _ in range(self.s.batch_size)])
            loss, accuracy = self.compute_loss(batch)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            if step % 15 == 0:
                print(f"step {step}: loss {loss.item():.4f}, accuracy {accuracy:.2f}")


if __name__ == "__main__":
    RewardTrainer(Settings()).train()
