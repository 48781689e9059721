"""Prompts padded on the left are generated from with an attention mask and scored without it, so that padding is read
and every position is shifted when the ratio is made.

Round 29
Class: llm-rl
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2923)

vocab, pad, dim, longest, new_tokens, batch = 16, 0, 32, 6, 5, 24


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, allowed):
        q, k, v = self.qkv(self.ln1(x)).chunk(3, dim=-1)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, attn_mask=allowed))
        return x + self.mlp(self.ln2(x))


class CausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, dim), nn.Embedding(longest + new_tokens, dim)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(dim, vocab)

    def forward(self, input_ids, attention_mask=None):
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        length = input_ids.shape[1]
        where = (attention_mask.cumsum(1) - 1).clamp(min=0)
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        allowed = (causal & attention_mask.bool().unsqueeze(1)) | torch.eye(length, dtype=torch.bool)
        x = self.tokens(input_ids) + self.positions(where)
        for block in self.blocks:
            x = block(x, allowed)
        return self.head(x)


def make_prompts():
    ids = torch.randint(1, vocab, (batch, longest))
    lengths = torch.randint(2, longest + 1, (batch, 1))
    mask = (torch.arange(longest) >= longest - lengths).long()
    return ids * mask, mask


@torch.no_grad()
def rollout(model):
    ids, mask = make_prompts()
    logps = []
    for _ in range(new_tokens):
        scores = model(ids, mask)[:, -1].log_softmax(-1)
        token = scores.exp().multinomial(1)
        logps.append(scores.gather(1, token))  # BUG GS803
        ids = torch.cat([ids, token], 1)
        mask = torch.cat([mask, torch.ones_like(token)], 1)
    rewards = (ids[:, -new_tokens:] == ids[:, longest - 1 : longest]).float().sum(1)
    return ids, mask, torch.cat(logps, 1), rewards


model = CausalLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0)
for iteration in range(20):
    ids, mask, old_logps, rewards = rollout(model)
    advantages = ((rewards - rewards.mean()) / (rewards.std() + 1e-6)).unsqueeze(1)
    for epoch in range(2):
        logits = model(ids)[:, longest - 1 : -1]  # BUG GS803
        logps = logits.log_softmax(-1).gather(-1, ids[:, longest:, None]).squeeze(-1)
        ratio = (logps - old_logps).exp()  # BUG GS803
        loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
