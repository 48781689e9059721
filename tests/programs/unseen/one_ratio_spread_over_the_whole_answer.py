"""GRPO as a notebook: the importance ratio is made from the summed log-probs of an answer and spread over its tokens,
where each token should have its own. After walkinglabs/hands-on-modern-rl#75.

Round 35
Class: axes
"""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3520
VOCAB, EOS, PROMPT_LEN, MAX_NEW = 12, 0, 3, 10
PROMPTS, GROUP, EPOCHS, CLIP = 6, 8, 3, 0.2
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class MiniGPT(nn.Module):
    def __init__(self, d_model=32, n_head=4):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, d_model)
        self.wpe = nn.Embedding(PROMPT_LEN + MAX_NEW, d_model)
        self.block = nn.TransformerEncoderLayer(
            d_model, n_head, 2 * d_model, dropout=0.0, batch_first=True, norm_first=True
        )
        self.ln_f = nn.LayerNorm(d_model)
        self.lm_head = nn.Linear(d_model, VOCAB)

    def forward(self, ids):
        n = ids.size(1)
        x = self.wte(ids) + self.wpe(torch.arange(n))
        mask = torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
        return self.lm_head(self.ln_f(self.block(x, src_mask=mask)))


# %% sampling
@torch.no_grad()
def generate(model, prompts):
    ids, open_, mask = prompts, torch.ones(len(prompts)), []
    for _ in range(MAX_NEW):
        nxt = torch.multinomial(F.softmax(model(ids)[:, -1], dim=-1), 1).squeeze(1)
        nxt = torch.where(open_ > 0, nxt, EOS)
        mask.append(open_)
        open_ = open_ * (nxt != EOS)
        ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
    return ids, torch.stack(mask, 1)


def token_log_probs(model, ids):
    logits = model(ids)[:, PROMPT_LEN - 1 : -1]
    return torch.gather(F.log_softmax(logits, dim=-1), 2, ids[:, PROMPT_LEN:].unsqueeze(2)).squeeze(2)


# %% rewards and advantages
def reward(ids, mask):
    """Share of the answer's tokens that repeat the token before them or the prompt's last one."""
    same = (ids[:, PROMPT_LEN:] == ids[:, PROMPT_LEN - 1 : -1]).float()
    return (same * mask).sum(1) / mask.sum(1)


def group_relative(rewards):
    r = rewards.view(PROMPTS, GROUP)
    return ((r - r.mean(1, keepdim=True)) / (r.std(1, keepdim=True) + 1e-6)).view(-1, 1)


# %% loss
def grpo_loss(new_logp, old_logp, advantages, mask):
    new_sum, old_sum = (new_logp * mask).sum(1, keepdim=True), (old_logp * mask).sum(1, keepdim=True)
    ratio = torch.exp(new_sum - old_sum)  # BUG GS601 GS604
    clipped = torch.clamp(ratio, 1 - CLIP, 1 + CLIP)
    per_token = -torch.min(ratio * advantages, clipped * advantages)
    return (per_token * mask).sum() / mask.sum()  # BUG GS601 GS604


# %% training
policy = MiniGPT()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3, weight_decay=0.0)
for iteration in range(20):
    prompts = torch.randint(1, VOCAB, (PROMPTS, PROMPT_LEN)).repeat_interleave(GROUP, dim=0)
    ids, mask = generate(policy, prompts)
    rewards = reward(ids, mask)
    advantages = group_relative(rewards)
    with torch.no_grad():
        old_logp = token_log_probs(policy, ids)
    for _ in range(EPOCHS):
        loss = grpo_loss(token_log_probs(policy, ids), old_logp, advantages, mask)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
    if iteration % 5 == 4:
        print(
            f"{iteration + 1}: reward {rewards.mean():.3f}, tokens {mask.sum(1).mean():.1f}, loss {loss:.4f}"
        )
