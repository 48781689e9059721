"""PPO on a tiny language model, written down from a textbook: the objective that the formula maximises is handed to
an optimizer that minimises. After natolambert/rlhf-book#125.

Round 35
Class: meaning
"""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED, VOCAB, LENGTH, BATCH = 3506, 10, 6, 48
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class TinyDecoder(nn.Module):
    """One attention block over the tokens so far, a policy head and a value head."""

    def __init__(self, dim=32):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB + 1, dim)  # the last one starts the sentence
        self.positions = nn.Embedding(LENGTH + 1, dim)
        self.attention = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.mlp = nn.Sequential(
            nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim)
        )
        self.lm_head = nn.Linear(dim, VOCAB)
        self.v_head = nn.Linear(dim, 1)

    def forward(self, ids):
        n = ids.size(1)
        x = self.tokens(ids) + self.positions(torch.arange(n))
        causal = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
        x = x + self.attention(x, x, x, attn_mask=causal, need_weights=False)[0]
        x = x + self.mlp(x)
        return self.lm_head(x), self.v_head(x).squeeze(-1)


def sample_completions(model):
    ids = torch.full((BATCH, 1), VOCAB)
    with torch.no_grad():
        for _ in range(LENGTH):
            probs = F.softmax(model(ids)[0][:, -1], dim=-1)
            ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)
    return ids


def evaluate(model, ids):
    logits, values = model(ids[:, :-1])
    logprobs = F.log_softmax(logits, dim=-1)
    chosen = logprobs.gather(-1, ids[:, 1:, None]).squeeze(-1)
    return chosen, values, -(logprobs.exp() * logprobs).sum(-1)


def reward_model(ids):
    """Likes sentences whose tokens rise."""
    words = ids[:, 1:]
    return (words[:, 1:] > words[:, :-1]).float().mean(-1)


def ppo_loss(new_logprobs, old_logprobs, advantages, clip_eps=0.2):
    ratio = torch.exp(new_logprobs - old_logprobs)
    unclipped = ratio * advantages
    clipped = torch.clamp(ratio, 1 - clip_eps, 1 + clip_eps) * advantages
    return torch.min(unclipped, clipped).mean()  # BUG GS801


model = TinyDecoder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
history = []
for iteration in range(30):
    ids = sample_completions(model)
    rewards = reward_model(ids)
    history.append(rewards.mean().item())
    with torch.no_grad():
        old_logprobs, old_values, _ = evaluate(model, ids)
    returns = rewards[:, None].expand(-1, LENGTH)
    advantages = returns - old_values
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(3):
        logprobs, values, entropy = evaluate(model, ids)
        policy_loss = ppo_loss(logprobs, old_logprobs, advantages)
        value_loss = F.mse_loss(values, returns)
        loss = policy_loss + 0.5 * value_loss - 0.005 * entropy.mean()  # BUG GS801
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

print("reward at first", round(history[0], 3), "at last", round(history[-1], 3))
