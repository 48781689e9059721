"""The repaired twin of a program in which the following goes wrong.
PPO for a language model with actor and critic, whose micro-batches are filled up to a number of words: each
loss is a mean over the words of its slice and is then weighed by the slice's share of the rows, so words in
short answers count for more. After verl-project/verl#5641.

Round 37
Class: llm-rl
"""

import random
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

config = SimpleNamespace(
    batch=24, prompt_length=3, response_length=10, max_token_len=60, epochs=2, steps=18,
    clip_ratio=0.2, cliprange_value=0.5, gamma=1.0, lam=0.95, lr=3e-3, grad_clip=1.0, seed=3733,
)  # fmt: skip
VOCAB, EOS = 14, 0


class Backbone(nn.Module):
    def __init__(self, outputs, dim=32):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(VOCAB, dim), nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, outputs)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


def masked_mean(x, mask):
    return (x * mask).sum() / mask.sum()


def rearrange_micro_batches(batch, max_token_len):
    """Rows in order of their length, cut wherever a slice has as many words as it may have."""
    lengths = batch["mask"].sum(1)
    slices, room = [[]], max_token_len
    for row in lengths.argsort().tolist():
        if slices[-1] and lengths[row] > room:
            slices.append([])
            room = max_token_len
        slices[-1].append(row)
        room -= lengths[row].item()
    return [{name: x[rows] for name, x in batch.items()} for rows in slices]


def loss_scale_factor(micro_batch, mini_batch):
    """The share of this slice in the whole mini-batch."""
    return micro_batch["mask"].sum() / mini_batch["mask"].sum()


class DataParallelPPOActor:
    def __init__(self):
        self.module = Backbone(VOCAB)
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=config.lr)

    def log_prob(self, batch):
        logits = self.module(batch["tokens"][:, :-1])[:, config.prompt_length - 1 :]
        return F.log_softmax(logits, -1).gather(-1, batch["responses"].unsqueeze(-1)).squeeze(-1)

    def loss(self, batch):
        ratio, adv = torch.exp(self.log_prob(batch) - batch["old_log_prob"]), batch["advantages"]
        clipped = ratio.clamp(1 - config.clip_ratio, 1 + config.clip_ratio)
        return masked_mean(torch.max(-adv * ratio, -adv * clipped), batch["mask"])


class DataParallelPPOCritic:
    def __init__(self):
        self.module = Backbone(1)
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=config.lr)

    def values(self, batch):
        values = self.module(batch["tokens"][:, :-1])[:, config.prompt_length - 1 :]
        return values.squeeze(-1) * batch["mask"]

    def loss(self, batch):
        values, old, returns = self.values(batch), batch["values"], batch["returns"]
        clipped = old + (values - old).clamp(-config.cliprange_value, config.cliprange_value)
        losses = torch.max((values - returns).pow(2), (clipped - returns).pow(2))
        return 0.5 * masked_mean(losses, batch["mask"])


def update(worker, mini_batch):
    worker.optimizer.zero_grad()
    for micro_batch in rearrange_micro_batches(mini_batch, config.max_token_len):
        loss = worker.loss(micro_batch) * loss_scale_factor(micro_batch, mini_batch)
        loss.backward()
    nn.utils.clip_grad_norm_(worker.module.parameters(), config.grad_clip)
    worker.optimizer.step()


@torch.no_grad()
def rollout(actor):
    tokens = torch.randint(1, VOCAB, (config.batch, config.prompt_length))
    alive, mask = torch.ones(config.batch), []
    for _ in range(config.response_length):
        probs = actor.module(tokens)[:, -1].softmax(-1)
        following = torch.multinomial(probs, 1).squeeze(1) * alive.long()
        mask.append(alive)
        alive = alive * (following != EOS).float()
        tokens = torch.cat([tokens, following.unsqueeze(1)], 1)
    return {"tokens": tokens, "responses": tokens[:, config.prompt_length :], "mask": torch.stack(mask, 1)}


@torch.no_grad()
def compute_advantage(batch, scores):
    values, mask = batch["values"], batch["mask"]
    rewards = torch.zeros_like(values)
    rewards[torch.arange(len(values)), mask.sum(1).long() - 1] = scores
    last, following, advantages = 0.0, torch.zeros(len(values)), []
    for t in reversed(range(config.response_length)):
        delta = rewards[:, t] + config.gamma * following - values[:, t]
        last = delta + config.gamma * config.lam * last
        following = values[:, t]
        advantages.insert(0, last)
    advantages = torch.stack(advantages, 1)
    batch["returns"] = advantages + values
    mean = masked_mean(advantages, mask)
    std = masked_mean((advantages - mean).pow(2), mask).sqrt()
    batch["advantages"] = (advantages - mean) / (std + 1e-8) * mask


def score(batch):
    """Reward for words from the prompt's half of the vocabulary, and for coming to an end."""
    same = (batch["responses"] > VOCAB // 2) == (batch["tokens"][:, :1] > VOCAB // 2)
    ended = (batch["responses"] == EOS).any(1).float()
    return (same * batch["mask"]).sum(1) / batch["mask"].sum(1) + 0.5 * ended


random.seed(config.seed)
torch.manual_seed(config.seed)
actor, critic = DataParallelPPOActor(), DataParallelPPOCritic()
for step in range(config.steps):
    batch = rollout(actor)
    with torch.no_grad():
        batch["old_log_prob"], batch["values"] = actor.log_prob(batch), critic.values(batch)
    scores = score(batch)
    compute_advantage(batch, scores)
    for _ in range(config.epochs):
        update(critic, batch)
        update(actor, batch)
print("score", round(scores.mean().item(), 3))
