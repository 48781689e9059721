"""A small transformer is tuned with REINFORCE and keeps keys and values in a cache object also when it trains: the
cache's update is declared as one that needs no gradient. After huggingface/transformers#43923.
Repaired here.

Round 35
Class: llm-rl
"""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3511


class DynamicCache:
    """Keys and values of the tokens seen so far, a pair for each layer."""

    def __init__(self):
        self.keys, self.values = {}, {}

    def update(self, key, value, layer):
        if layer in self.keys:
            key = torch.cat([self.keys[layer], key], dim=-2)
            value = torch.cat([self.values[layer], value], dim=-2)
        self.keys[layer], self.values[layer] = key, value
        return key, value

    def length(self):
        return self.keys[0].size(-2) if self.keys else 0


class Attention(nn.Module):
    def __init__(self, dim, heads, layer):
        super().__init__()
        self.heads, self.layer = heads, layer
        self.q_proj, self.k_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.v_proj, self.o_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, cache):
        query, key, value = (self.split(p(x)) for p in (self.q_proj, self.k_proj, self.v_proj))
        past = cache.length() if self.layer == 0 else cache.keys[0].size(-2) - x.size(1)
        key, value = cache.update(key, value, self.layer)
        seen = torch.arange(key.size(-2)) <= torch.arange(x.size(1)).unsqueeze(1) + past
        out = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        return self.o_proj(out.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, dim, heads, layer):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = Attention(dim, heads, layer)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, cache):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    def __init__(self, vocab=11, dim=32, heads=2, layers=2, longest=16):
        super().__init__()
        self.vocab = vocab
        self.embed, self.position = nn.Embedding(vocab, dim), nn.Embedding(longest, dim)
        self.blocks = nn.ModuleList(Block(dim, heads, i) for i in range(layers))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids, cache):
        start = cache.length()
        x = self.embed(ids) + self.position(torch.arange(start, start + ids.size(1)))
        for block in self.blocks:
            x = block(x, cache)
        return self.head(x)


@torch.no_grad()
def generate(model, prompt, n):
    cache, pieces = DynamicCache(), [prompt]
    logits = model(prompt, cache)
    for _ in range(n):
        token = torch.multinomial(logits[:, -1].softmax(-1), 1)
        pieces.append(token)
        logits = model(token, cache)
    return torch.cat(pieces, dim=1)


def log_probs(model, prompt, answer):
    """Prompt first, then the answer on top of its cache."""
    cache = DynamicCache()
    first = model(prompt, cache)[:, -1:]
    logits = torch.cat([first, model(answer[:, :-1], cache)], dim=1)
    return logits.log_softmax(-1).gather(-1, answer.unsqueeze(-1)).squeeze(-1)


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    model, baseline = Decoder(), 0.0
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(60):
        prompt = torch.randint(model.vocab, (48, 4))
        ids = generate(model, prompt, 5)
        answer = ids[:, 4:]
        reward = (answer == prompt[:, 1:2]).float().mean(-1)
        loss = -(log_probs(model, prompt, answer).sum(-1) * (reward - baseline)).mean()
        baseline = 0.9 * baseline + 0.1 * reward.mean().item()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print("reward", reward.mean().item())


main()
