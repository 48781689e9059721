"""The masked mean of the surrogate is given the mask of the answers.

Round 23
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2317)
PAD, VOCAB, WIDTH, PROMPTS, GROUP, ANSWER = 0, 13, 28, 4, 4, 8


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH, padding_idx=PAD)
        self.gru = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        return self.head(self.gru(self.embed(ids))[0])


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum().clamp(min=1.0)


def policy_loss(old_log_prob, log_prob, advantages, response_mask, clip=0.2):
    ratio = torch.exp(log_prob - old_log_prob)
    first, second = -advantages * ratio, -advantages * ratio.clamp(1 - clip, 1 + clip)
    return masked_mean(torch.maximum(first, second), response_mask)


def token_log_prob(model, ids):
    return F.log_softmax(model(ids[:, :-1]), dim=-1).gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)


@torch.no_grad()
def generate(model):
    ids = torch.randint(1, VOCAB, (PROMPTS, 1)).repeat_interleave(GROUP, 0)
    for _ in range(ANSWER):
        ids = torch.cat([ids, model(ids)[:, -1].softmax(-1).multinomial(1)], 1)
    ended = (ids[:, 1:] == 1).long().cumsum(1) - (ids[:, 1:] == 1).long()
    mask = (ended == 0).float()
    ids = torch.cat([ids[:, :1], ids[:, 1:] * mask.long()], 1)
    return ids, mask


def group_advantages(ids, mask):
    rewards = ((ids[:, 1:] % 4 == 2) * mask).sum(1).view(PROMPTS, GROUP)
    normal = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-6)
    return normal.view(-1, 1) * mask


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for step in range(20):
    ids, response_mask = generate(model)
    advantages = group_advantages(ids, response_mask)
    with torch.no_grad():
        old = token_log_prob(model, ids)
    for _ in range(2):
        loss = policy_loss(
            old_log_prob=old,
            log_prob=token_log_prob(model, ids),
            advantages=advantages,
            response_mask=response_mask,
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
