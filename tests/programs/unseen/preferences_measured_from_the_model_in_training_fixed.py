"""DPO: the reference is a frozen copy of the model before the training.

Round 28
Class: llm-rl
"""

import copy
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(2822)
torch.manual_seed(2822)

VOCAB, PAD, EOS, BETA = 24, 0, 1, 0.3


class LanguageModel(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, width, padding_idx=PAD)
        self.rnn = nn.GRU(width, width, num_layers=2, batch_first=True)
        self.decoder = nn.Linear(width, VOCAB)

    def forward(self, input_ids):
        out, _ = self.rnn(self.embedding(input_ids))
        return self.decoder(out)


def make_pair():
    """Answers that count upwards from the prompt's last word are preferred to shuffled ones."""
    start = random.randrange(2, 14)
    prompt = [random.randrange(2, VOCAB), start]
    size = random.randrange(3, 7)
    chosen = [start + 1 + i for i in range(size)]
    rejected = chosen[:]
    while rejected == chosen:
        random.shuffle(rejected)
    return prompt, [*chosen, EOS], [*rejected, EOS]


def collate(rows):
    longest = max(len(p) + len(c) for p, c, _ in rows)
    ids, labels = [], []
    for answer in (1, 2):
        for row in rows:
            tokens = row[0] + row[answer]
            filling = [PAD] * (longest - len(tokens))
            ids.append(tokens + filling)
            labels.append([-100] * len(row[0]) + row[answer] + [-100] * len(filling))
    return torch.tensor(ids), torch.tensor(labels)


def batch_logps(model, ids, labels):
    logits, labels = model(ids[:, :-1]), labels[:, 1:]
    mask = labels != -100
    picked = logits.log_softmax(-1).gather(2, labels.clamp(min=0).unsqueeze(2)).squeeze(2)
    return (picked * mask).sum(1)


class DPOTrainer:
    def __init__(self, model, ref_model=None, lr=1e-3):
        self.model = model
        self.ref_model = ref_model if ref_model is not None else copy.deepcopy(model).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0)

    def compute_loss(self, ids, labels):
        chosen, rejected = batch_logps(self.model, ids, labels).chunk(2)
        with torch.no_grad():
            ref_chosen, ref_rejected = batch_logps(self.ref_model, ids, labels).chunk(2)
        margin = (chosen - ref_chosen) - (rejected - ref_rejected)
        return -F.logsigmoid(BETA * margin).mean(), (margin > 0).float().mean()

    def train(self, rows, epochs, batch_size):
        for epoch in range(epochs):
            random.shuffle(rows)
            for i in range(0, len(rows), batch_size):
                loss, accuracy = self.compute_loss(*collate(rows[i : i + batch_size]))
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
            print(f"epoch {epoch}: loss {loss.item():.4f} accuracy {accuracy:.2f}")


def supervised_warm_up(model, rows, steps=30):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        ids, labels = collate(random.sample(rows, 16))
        ids, labels = ids[:16], labels[:16]
        loss = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), labels[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


pairs = [make_pair() for _ in range(128)]
model = LanguageModel()
supervised_warm_up(model, pairs)
DPOTrainer(model).train(pairs, epochs=4, batch_size=16)
