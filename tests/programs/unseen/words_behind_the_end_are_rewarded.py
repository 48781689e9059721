"""GRPO: the loss is a plain mean over all places of the answers, and what was filled in behind the end of an answer is
rewarded like the answer itself.

Round 28
Class: llm-rl
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2817)

VOCAB, EOS, PAD = 16, 1, 0
PROMPTS, GROUP, PROMPT_LEN, MAX_NEW = 4, 6, 3, 9


class TinyGPT(nn.Module):
    def __init__(self, width=32, heads=2):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, width)
        self.wpe = nn.Embedding(PROMPT_LEN + MAX_NEW, width)
        self.block = nn.TransformerEncoderLayer(width, heads, 64, dropout=0.0, batch_first=True)
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, VOCAB, bias=False)

    def forward(self, ids):
        n = ids.shape[1]
        causal = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
        x = self.wte(ids) + self.wpe(torch.arange(n))
        return self.lm_head(self.ln_f(self.block(x, src_mask=causal)))


@torch.no_grad()
def generate(model, prompts):
    ids = prompts
    finished = torch.zeros(len(ids), dtype=torch.bool)
    for _ in range(MAX_NEW):
        logits = model(ids)[:, -1]
        logits[:, PAD] = -1e9
        token = torch.multinomial(F.softmax(logits, dim=-1), 1).squeeze(1)
        token = torch.where(finished, torch.full_like(token, PAD), token)
        finished = finished | (token == EOS)
        ids = torch.cat([ids, token[:, None]], dim=1)
    return ids


def per_token_logps(model, ids):
    logits = model(ids[:, :-1])[:, PROMPT_LEN - 1 :]
    never = torch.zeros(VOCAB).index_fill(0, torch.tensor([PAD]), -1e9)
    labels = ids[:, PROMPT_LEN:].clamp(min=EOS)
    return F.log_softmax(logits + never, dim=-1).gather(2, labels[:, :, None]).squeeze(2)


def reward_fn(ids, mask):
    """A word pays if it is larger than the first word of the prompt."""
    answers = ids[:, PROMPT_LEN:]
    larger = (answers > ids[:, :1]).float() * mask
    return larger.sum(1) / mask.sum(1) + 0.02 * mask.sum(1)


model = TinyGPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0)

for step in range(24):
    prompts = torch.randint(2, VOCAB, (PROMPTS, PROMPT_LEN)).repeat_interleave(GROUP, dim=0)
    ids = generate(model, prompts)
    completion_mask = (ids[:, PROMPT_LEN:] != PAD).float()
    rewards = reward_fn(ids, completion_mask)
    grouped = rewards.view(PROMPTS, GROUP)
    advantages = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)
    advantages = advantages.view(-1, 1)
    with torch.no_grad():
        old_logps = per_token_logps(model, ids)

    for _ in range(2):
        logps = per_token_logps(model, ids)
        ratio = torch.exp(logps - old_logps)
        per_token_loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        loss = per_token_loss.mean()  # BUG GS605
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    if step % 6 == 0:
        print(f"step {step}: reward {rewards.mean():.3f} length {completion_mask.sum(1).mean():.1f}")
