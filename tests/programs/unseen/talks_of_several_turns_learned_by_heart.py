"""Supervised fine-tuning of a small decoder on talks of several turns, before it is handed on to reinforcement
learning: only the helper's words are learned, and every batch is worked off in micro-batches.

Round 31
Class: llm-rl
"""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

VOCAB = 20
PAD, USER, HELPER, END = range(4)


class TalkDataset(Dataset):
    """The user says some words; the helper answers each of them with its successor."""

    def __init__(self, size, max_length=28, seed=0):
        generator = torch.Generator().manual_seed(seed)
        self.rows = [self.build(generator, max_length) for _ in range(size)]

    @staticmethod
    def build(generator, max_length):
        ids, loss_mask = [], []
        for _ in range(int(torch.randint(1, 4, (1,), generator=generator))):
            count = int(torch.randint(1, 4, (1,), generator=generator))
            said = torch.randint(END + 1, VOCAB, (count,), generator=generator).tolist()
            answer = [END + 1 + (word - END) % (VOCAB - END - 1) for word in said] + [END]
            ids += [USER, *said, HELPER, *answer]
            loss_mask += [0] * (count + 2) + [1] * len(answer)
        padding = max_length - len(ids)
        return (
            torch.tensor(ids + [PAD] * padding),
            torch.tensor([1] * len(ids) + [0] * padding),
            torch.tensor(loss_mask + [0] * padding),
        )

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, item):
        input_ids, attention_mask, loss_mask = self.rows[item]
        return {"input_ids": input_ids, "attention_mask": attention_mask, "loss_mask": loss_mask}


class CausalLM(nn.Module):
    def __init__(self, width=32, heads=4, positions=28):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.position = nn.Parameter(0.02 * torch.randn(positions, width))
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.lm_head = nn.Linear(width, VOCAB, bias=False)

    def forward(self, input_ids, attention_mask):
        length = input_ids.shape[1]
        x = self.embed(input_ids) + self.position[:length]
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        y = self.norms[0](x)
        x = (
            x
            + self.attention(
                y, y, y, attn_mask=future, key_padding_mask=attention_mask == 0, need_weights=False
            )[0]
        )
        x = x + self.mlp(self.norms[1](x))
        return self.lm_head(self.norms[2](x))


class SFTTrainer:
    def __init__(
        self, model, dataset, train_batch_size=32, micro_batch_size=8, epochs=6, lr=4e-3, clip_grad=1.0
    ):
        self.model, self.epochs, self.clip_grad = model, epochs, clip_grad
        self.micro_batch_size = micro_batch_size
        self.loader = DataLoader(dataset, batch_size=train_batch_size, shuffle=True, drop_last=True)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
        self.total_steps = epochs * len(self.loader)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: 0.5 * (1 + math.cos(math.pi * step / self.total_steps))
        )

    def compute_loss(self, batch):
        logits = self.model(batch["input_ids"], batch["attention_mask"])[:, :-1]
        labels = batch["input_ids"][:, 1:]
        loss_mask = batch["loss_mask"][:, 1:].reshape(-1).float()
        loss = F.cross_entropy(logits.reshape(-1, VOCAB), labels.reshape(-1), reduction="none")
        return torch.sum(loss * loss_mask) / loss_mask.sum()  # BUG GS407

    def training_step(self, batch):
        self.model.train()
        self.optimizer.zero_grad()
        count = len(batch["input_ids"])
        step_loss = 0.0
        for start in range(0, count, self.micro_batch_size):
            micro_batch = {key: value[start : start + self.micro_batch_size] for key, value in batch.items()}
            loss = self.compute_loss(micro_batch)  # BUG GS407
            loss.backward()  # BUG GS407
            step_loss += loss.item()
        grad_norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.clip_grad)
        self.optimizer.step()
        self.scheduler.step()
        return step_loss, grad_norm.item()

    def fit(self):
        for epoch in range(self.epochs):
            for batch in self.loader:
                loss, grad_norm = self.training_step(batch)
            print(f"epoch {epoch}: train/loss {loss:.4f}, train/grad_norm {grad_norm:.3f}")


if __name__ == "__main__":
    torch.manual_seed(3114)
    SFTTrainer(CausalLM(), TalkDataset(320, seed=3114)).fit()
