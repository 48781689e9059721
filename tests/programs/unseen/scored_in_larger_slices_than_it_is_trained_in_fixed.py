"""The repaired twin of a program in which the following goes wrong.
On-policy optimisation over groups for a model that reads pictures and has routed experts of limited room:
the old log-probabilities are computed in larger micro-batches than the update's, other words find no room,
and the ratio is not one before the first step. After verl-project/verl#2996.

Round 37
Class: llm-rl
"""

import math
import random
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

config = SimpleNamespace(
    data=SimpleNamespace(train_batch_size=8, prompt_length=9, response_length=4),
    rollout=SimpleNamespace(
        n=4,
        log_prob_micro_batch_size=8,
    ),
    actor=SimpleNamespace(ppo_micro_batch_size=8, clip_ratio=0.2, lr=3e-3, grad_clip=1.0),
    steps=30,
    seed=3732,
)
COLOURS, WORDS, DIM = 4, 10, 32


class RoutedExperts(nn.Module):
    """Each token goes to its best expert; an expert takes as many as its room in this call allows."""

    def __init__(self, n_experts=4, room=1.0):
        super().__init__()
        self.router = nn.Linear(DIM, n_experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(DIM, 48), nn.GELU(), nn.Linear(48, DIM)) for _ in range(n_experts)
        )
        self.room = room

    def forward(self, x):
        flat = x.flatten(0, 1)
        gates, choice = self.router(flat).softmax(-1).max(-1)
        capacity = math.ceil(self.room * len(flat) / len(self.experts))
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            rows = (choice == i).nonzero().flatten()[:capacity]
            out = out.index_add(0, rows, gates[rows].unsqueeze(1) * expert(flat[rows]))
        return out.view_as(x)


class VisionLanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.word = nn.Embedding(COLOURS, DIM), nn.Embedding(WORDS, DIM)
        length = config.data.prompt_length + config.data.response_length
        self.place = nn.Parameter(0.1 * torch.randn(length, DIM))
        self.qkv, self.norm1, self.norm2 = nn.Linear(DIM, 3 * DIM), nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.moe, self.lm_head = RoutedExperts(), nn.Linear(DIM, WORDS)

    def forward(self, pixels, responses):
        x = torch.cat([self.patch(pixels), self.word(responses)], 1)
        x = x + self.place[: x.shape[1]]
        q, k, v = self.qkv(self.norm1(x)).chunk(3, -1)
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.moe(self.norm2(x))
        return self.lm_head(x[:, pixels.shape[1] - 1 :])


class DataParallelPPOActor:
    def __init__(self):
        self.module = VisionLanguageModel()
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=config.actor.lr)

    def _forward_micro_batch(self, pixels, responses):
        logits = self.module(pixels, responses)[:, :-1]
        return F.log_softmax(logits, -1).gather(-1, responses.unsqueeze(-1)).squeeze(-1)

    @torch.no_grad()
    def generate_sequences(self, pixels):
        responses = torch.zeros(len(pixels), 0, dtype=torch.long)
        for _ in range(config.data.response_length):
            probs = self.module(pixels, responses)[:, -1].softmax(-1)
            responses = torch.cat([responses, torch.multinomial(probs, 1)], 1)
        return responses

    @torch.no_grad()
    def compute_log_prob(self, pixels, responses, micro_batch_size):
        parts = zip(pixels.split(micro_batch_size), responses.split(micro_batch_size))
        return torch.cat([self._forward_micro_batch(p, r) for p, r in parts])

    def update_policy(self, *batch):
        size, total, eps = config.actor.ppo_micro_batch_size, len(batch[0]), config.actor.clip_ratio
        self.optimizer.zero_grad()
        for pixels, responses, old_log_prob, advantages in zip(*(x.split(size) for x in batch)):
            log_prob = self._forward_micro_batch(pixels, responses)
            ratio = torch.exp(log_prob - old_log_prob)
            adv = advantages.unsqueeze(1)
            pg_losses = torch.max(-adv * ratio, -adv * ratio.clamp(1 - eps, 1 + eps))
            (pg_losses.mean() * len(pixels) / total).backward()
        nn.utils.clip_grad_norm_(self.module.parameters(), config.actor.grad_clip)
        self.optimizer.step()


def count_colours(pixels, responses):
    """How near is each word to the number of patches of its colour?"""
    counts = F.one_hot(pixels, COLOURS).sum(1)
    return -(responses - counts).abs().float().mean(1)


def fit(actor):
    n = config.rollout.n
    for step in range(config.steps):
        pixels = torch.randint(COLOURS, (config.data.train_batch_size, config.data.prompt_length))
        pixels = pixels.repeat_interleave(n, 0)
        responses = actor.generate_sequences(pixels)
        rewards = count_colours(pixels, responses).view(-1, n)
        advantages = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-6)
        size = config.rollout.log_prob_micro_batch_size
        old_log_prob = actor.compute_log_prob(pixels, responses, size)
        actor.update_policy(pixels, responses, old_log_prob, advantages.flatten())
    print("reward", round(rewards.mean().item(), 3))


random.seed(config.seed)
torch.manual_seed(config.seed)
fit(DataParallelPPOActor())
