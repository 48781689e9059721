"""Group-relative policy optimisation whose batch is cut into micro-batches by a budget of words. Each
micro-batch takes the mean over its own words and is weighed by its number of answers, so that the gradient
depends on the cuts.

Round 32
Class: llm-rl
"""

from typing import NamedTuple

import torch
import torch.nn as nn

torch.manual_seed(3208)

EOS = 0
VOCAB, PROMPT_LEN, MAX_NEW = 20, 3, 10
PROMPTS_PER_STEP, SAMPLES = 4, 8
WORD_BUDGET = 48
CLIP_LOW, CLIP_HIGH = 0.2, 0.28


class Rollout(NamedTuple):
    ids: torch.Tensor
    mask: torch.Tensor
    logps: torch.Tensor
    advantages: torch.Tensor

    def rows(self, index):
        return Rollout(*(field[index] for field in self))


class LanguageModel(nn.Module):
    def __init__(self, dim=40):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True)
        self.project = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        hidden, _ = self.lstm(self.embedding(ids))
        return self.project(hidden)

    def answer_logps(self, ids):
        logps = self(ids[:, :-1])[:, PROMPT_LEN - 1 :].log_softmax(dim=-1)
        return logps.gather(-1, ids[:, PROMPT_LEN:].unsqueeze(-1)).squeeze(-1)


@torch.no_grad()
def collect(model):
    ids = torch.randint(1, VOCAB, (PROMPTS_PER_STEP, PROMPT_LEN)).repeat_interleave(SAMPLES, 0)
    alive, mask = torch.ones(len(ids), dtype=torch.bool), []
    for _ in range(MAX_NEW):
        word = torch.multinomial(model(ids)[:, -1].softmax(-1), 1).squeeze(1)
        mask.append(alive)
        word = word.masked_fill(~alive, EOS)
        alive = alive & (word != EOS)
        ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
    mask = torch.stack(mask, dim=1)
    reward = score(ids[:, PROMPT_LEN:], mask)
    group = reward.view(PROMPTS_PER_STEP, SAMPLES)
    advantages = (group - group.mean(1, keepdim=True)) / (group.std(1, keepdim=True) + 1e-6)
    return Rollout(ids, mask.float(), model.answer_logps(ids), advantages.view(-1)), reward.mean().item()


def score(answers, mask):
    """How often an answer steps to a higher word, with a small price on every word."""
    climbs = ((answers[:, 1:] > answers[:, :-1]) & mask[:, 1:]).sum(1)
    return climbs.float() - 0.3 * mask.sum(1)


def micro_batches(lengths):
    """Rows in order of length, as many at a time as fit into the budget."""
    pieces, piece, used = [], [], 0
    for row in lengths.argsort().tolist():
        if piece and used + int(lengths[row]) > WORD_BUDGET:
            pieces.append(torch.tensor(piece))
            piece, used = [], 0
        piece.append(row)
        used += int(lengths[row])
    return [*pieces, torch.tensor(piece)]


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()  # BUG GS407


def policy_loss(model, rollout):
    log_ratio = model.answer_logps(rollout.ids) - rollout.logps
    ratio, advantages = log_ratio.exp(), rollout.advantages.unsqueeze(1)
    surrogate = torch.min(ratio * advantages, ratio.clamp(1 - CLIP_LOW, 1 + CLIP_HIGH) * advantages)
    return masked_mean(-surrogate, rollout.mask)  # BUG GS407


def update(model, optimizer, rollout, epochs=2):
    pieces = micro_batches(rollout.mask.sum(1).long())
    for _ in range(epochs):
        optimizer.zero_grad()
        for index in pieces:
            part = rollout.rows(index)
            share = len(index) / len(rollout.ids)  # BUG GS407
            (policy_loss(model, part) * share).backward()  # BUG GS407
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return len(pieces)


model = LanguageModel()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(16):
    rollout, reward = collect(model)
    pieces = update(model, optimizer, rollout)
    if step % 3 == 0:
        length = rollout.mask.sum(1).mean().item()
        print(f"step {step}: reward {reward:.3f} length {length:.2f} micro-batches {pieces}")
