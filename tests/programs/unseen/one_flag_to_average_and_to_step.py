"""Rejection sampling and fine-tuning in micro-batches: the flag that asks for an average over the replicas also lets
the optimizer step, so that it steps with every micro-batch on all that has piled up in the window.

Round 30
Class: llm-rl
"""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3022)

VOCAB, WIDTH, PROMPT, ANSWER = 18, 32, 3, 5
PROMPTS, TRIES, MICRO, WINDOW, ROUNDS = 16, 6, 4, 4, 12


class Accumulation:
    """Averages the gradients of the replicas and says when the window is full."""

    def __init__(self, window, sync_each_batch=False):
        self.window, self.sync_each_batch = window, sync_each_batch
        self.seen = 0

    def next_batch(self):
        self.seen += 1
        self.window_is_full = self.seen % self.window == 0
        self.sync_gradients = self.sync_each_batch or self.window_is_full

    def average(self, parameters):
        if self.sync_gradients and dist.is_available() and dist.is_initialized():
            for p in parameters:
                dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(PROMPT + ANSWER, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 1)
        self.out = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        n = ids.shape[1]
        ahead = torch.ones(n, n, dtype=torch.bool).triu(1)
        return self.out(self.layers(self.words(ids) + self.places.weight[:n], mask=ahead))


def sample(model, prompts):
    ids = prompts
    with torch.no_grad():
        for _ in range(ANSWER):
            chances = model(ids)[:, -1].softmax(dim=-1)
            ids = torch.cat([ids, chances.multinomial(1)], dim=1)
    return ids


def score(ids):
    """An answer should repeat the words of its prompt."""
    prompt, answer = ids[:, :PROMPT], ids[:, PROMPT:]
    return (answer.unsqueeze(2) == prompt.unsqueeze(1)).any(dim=2).float().sum(dim=1)


def best_answers(model):
    prompts = torch.randint(0, VOCAB, (PROMPTS, PROMPT))
    ids = sample(model, prompts.repeat_interleave(TRIES, dim=0))
    best = score(ids).view(PROMPTS, TRIES).argmax(dim=1)
    return ids.view(PROMPTS, TRIES, -1)[torch.arange(PROMPTS), best]


model = Decoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
accumulation = Accumulation(WINDOW, sync_each_batch=True)

for round_ in range(ROUNDS):
    kept = best_answers(model)
    for ids in kept.split(MICRO):
        accumulation.next_batch()
        logits = model(ids[:, :-1])[:, PROMPT - 1 :]
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, PROMPT:].flatten())
        (loss / WINDOW).backward()  # BUG GS401
        accumulation.average(model.parameters())
        if accumulation.sync_gradients:  # BUG GS401
            optimizer.step()  # BUG GS401
        if accumulation.window_is_full:
            optimizer.zero_grad()  # BUG GS401
    print(f"round {round_}: {score(kept).mean().item():.2f} words repeated by the best")
