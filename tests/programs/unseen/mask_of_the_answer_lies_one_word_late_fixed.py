"""A tiny transformer counts upwards from its prompt and should stop by itself; it learns with REINFORCE.
The mask of the answer is shifted with the targets.

Round 33
Class: llm-rl
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, EOS, VOCAB = 0, 1, 12
PROMPT_LEN, MAX_NEW = 2, 7
BATCH, STEPS = 48, 40


class Block(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, dim), nn.Embedding(PROMPT_LEN + MAX_NEW, dim)
        self.block, self.norm, self.head = Block(dim), nn.LayerNorm(dim), nn.Linear(dim, VOCAB)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.block(x)))


@torch.no_grad()
def sample(model, prompts):
    ids = prompts
    mask = torch.zeros_like(prompts, dtype=torch.bool)
    alive = torch.ones(len(prompts), 1, dtype=torch.bool)
    for _ in range(MAX_NEW):
        new = torch.multinomial(model(ids)[:, -1].softmax(-1), 1)
        ids = torch.cat([ids, torch.where(alive, new, PAD)], 1)
        mask = torch.cat([mask, alive], 1)
        alive = alive & (new != EOS)
    return ids, mask


def reward(ids, mask):
    """One for every word that is one more than the word before it and one for stopping; less for others."""
    answer, before = ids[:, PROMPT_LEN:], ids[:, PROMPT_LEN - 1 : -1]
    spoken = mask[:, PROMPT_LEN:]
    right = (answer == before + 1) & spoken & (answer != EOS)
    stopped = ((answer == EOS) & spoken).any(1)
    return right.float().sum(1) - 0.2 * (spoken & ~right).float().sum(1) + stopped.float()


def policy_loss(model, ids, mask, advantage):
    logits = model(ids[:, :-1])
    targets = ids[:, 1:]
    target_mask = mask[:, 1:].float()
    log_probs = logits.log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return -(log_probs * target_mask * advantage.unsqueeze(1)).sum() / target_mask.sum()


torch.manual_seed(3)
model = LanguageModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
for step in range(STEPS):
    ids, mask = sample(model, torch.randint(2, VOCAB - 1, (BATCH, PROMPT_LEN)))
    score = reward(ids, mask)
    advantage = (score - score.mean()) / (score.std() + 1e-6)
    loss = policy_loss(model, ids, mask, advantage)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 10 == 9:
        print(f"{step + 1}: loss {loss.item():.4f} score {score.mean().item():.3f}")
