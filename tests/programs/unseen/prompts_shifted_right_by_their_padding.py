"""Clipped policy optimisation of a small transformer on left-padded prompts. Answers are drawn with
positions counted from the first real word, but scored again in training with positions counted from the
left edge of the row.

Round 32
Class: llm-rl
"""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, allowed):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed.unsqueeze(1))
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    """The padding word has an embedding and no logit, so that it is never drawn."""

    def __init__(self, vocab, max_len, dim=32, heads=2, layers=2):
        super().__init__()
        self.words = nn.Embedding(vocab + 1, dim, padding_idx=vocab)
        self.places = nn.Embedding(max_len, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, vocab)

    def forward(self, ids, attention_mask, position_ids=None):
        t = ids.shape[1]
        if position_ids is None:
            position_ids = torch.arange(t).expand_as(ids)  # BUG GS803
        causal = torch.ones(t, t, dtype=torch.bool).tril()
        allowed = (causal & attention_mask.unsqueeze(1)) | torch.eye(t, dtype=torch.bool)
        x = self.words(ids) + self.places(position_ids)
        for block in self.blocks:
            x = block(x, allowed)
        return self.head(self.norm(x))


def make_position_ids(attention_mask):
    return (attention_mask.long().cumsum(1) - 1).clamp(min=0)


def sample_prompts(n, longest, vocab):
    lengths = torch.randint(2, longest + 1, (n, 1))
    mask = torch.arange(longest).flip(0) < lengths
    return torch.randint(0, vocab, (n, longest)).masked_fill(~mask, vocab), mask


@torch.no_grad()
def generate(model, ids, mask, new_tokens):
    logprobs = []
    for _ in range(new_tokens):
        logits = model(ids, mask, make_position_ids(mask))[:, -1]
        logp = F.log_softmax(logits, dim=-1)
        word = torch.multinomial(logp.exp(), 1)
        logprobs.append(logp.gather(1, word))  # BUG GS803
        ids = torch.cat([ids, word], 1)
        mask = torch.cat([mask, torch.ones_like(word, dtype=torch.bool)], 1)
    return ids, mask, torch.cat(logprobs, 1)


def score(model, ids, mask, new_tokens):
    logits = model(ids, mask)[:, -new_tokens - 1 : -1]  # BUG GS803
    return F.log_softmax(logits, dim=-1).gather(2, ids[:, -new_tokens:, None]).squeeze(2)


def reward_fn(answers, vocab):
    """Words from the lower half of the dictionary, each different from the one before."""
    low = (answers < vocab // 2).float().mean(1)
    repeated = (answers[:, 1:] == answers[:, :-1]).float().mean(1)
    return low - repeated


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=20)
    parser.add_argument("--prompt-len", type=int, default=8)
    parser.add_argument("--new-tokens", type=int, default=6)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--ppo-epochs", type=int, default=3)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args([])

    torch.manual_seed(3201)
    policy = Decoder(args.vocab, args.prompt_len + args.new_tokens)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=args.lr, weight_decay=0.0)
    for iteration in range(args.iterations):
        prompts, prompt_mask = sample_prompts(args.batch, args.prompt_len, args.vocab)
        ids, mask, old_logp = generate(policy, prompts, prompt_mask, args.new_tokens)
        rewards = reward_fn(ids[:, -args.new_tokens :], args.vocab)
        advantages = ((rewards - rewards.mean()) / (rewards.std() + 1e-6)).unsqueeze(1)
        for _ in range(args.ppo_epochs):
            logp = score(policy, ids, mask, args.new_tokens)
            ratio = (logp - old_logp).exp()  # BUG GS803
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            loss = -torch.min(ratio * advantages, clipped * advantages).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimizer.step()
        print(f"iteration {iteration:2d} reward {rewards.mean():.3f} loss {loss.item():+.4f}")


if __name__ == "__main__":
    main()
