"""Preferences with a likelihood term for the chosen answer. The collate function scores the pairs, with the reference, and
with the policy as well: only the likelihood term still trains.

Round 23
Class: llm-rl
"""

import copy
import functools

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(2306)
VOCAB, WIDTH, IGNORE = 15, 24, -100


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.rnn = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


def answer_scores(model, ids, labels):
    logits = model(ids[:, :-1])
    losses = F.cross_entropy(logits.transpose(1, 2), labels[:, 1:], ignore_index=IGNORE, reduction="none")
    return -losses.sum(1)


def padded(prompts, answers):
    rows = [torch.cat(parts) for parts in zip(prompts, answers, strict=True)]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    labels = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=IGNORE)
    labels[:, : len(prompts[0])] = IGNORE
    return ids, labels


@torch.no_grad()  # BUG GS202
def collate(rows, policy, reference):
    prompts, good, bad = zip(*rows, strict=True)
    batch = {"chosen": padded(prompts, good), "rejected": padded(prompts, bad)}
    for side in ("chosen", "rejected"):
        batch["ref_" + side] = answer_scores(reference, *batch[side])
        batch["policy_" + side] = answer_scores(policy, *batch[side])  # BUG GS202
    return batch


def loss_of(policy, batch, beta=0.2, alpha=0.1):
    margin = batch["policy_chosen"] - batch["policy_rejected"]  # BUG GS202
    anchor = batch["ref_chosen"] - batch["ref_rejected"]
    preference = -F.logsigmoid(beta * (margin - anchor)).mean()
    likelihood = -answer_scores(policy, *batch["chosen"]).mean()
    return preference + alpha * likelihood


def example():
    prompt = torch.randint(1, VOCAB, (3,))
    good = torch.randint(1, 8, (int(torch.randint(2, 6, ())),))
    return prompt, good, torch.randint(5, VOCAB, (int(torch.randint(2, 6, ())),))


policy = Speaker()
reference = copy.deepcopy(policy).requires_grad_(False)
work = functools.partial(collate, policy=policy, reference=reference)
loader = DataLoader([example() for _ in range(64)], batch_size=8, shuffle=True, collate_fn=work)
optimizer = torch.optim.AdamW(policy.parameters(), lr=2e-3)
for epoch in range(5):
    for batch in loader:
        optimizer.zero_grad()
        loss_of(policy, batch).backward()
        optimizer.step()
